import { describe, expect, it } from 'vitest';
import type { Attempt, Run } from '#contract/attempt.ts';
import type { InboxItem } from '#contract/inbox-operations.ts';
import { LOCAL_DAYS } from './local-days.ts';
import { reportText } from './report-text.ts';
import { textWidth } from './text-width.ts';
import { compileReport, type ReportFacts } from '#domain/compile-report.ts';
import { NO_USAGE } from '#domain/count-usage.ts';

const NIGHT = { since: '2026-03-01T22:00:00.000Z', until: '2026-03-02T06:00:00.000Z' };
const NOW = Date.parse(NIGHT.until);

// Only what a report looks at.
const attempt = (task_id: string, finished_at: string): Attempt =>
  ({ task_id, finished_at, agent: 'ada', target: 'main', merge_commit: `${task_id}0123456789` }) as Attempt;

function run(task_id: string, outcome: Run['outcome'], more: Partial<Run> = {}): Run {
  const times = {
    created_at: '2026-03-01T23:00:00.000Z',
    started_at: '2026-03-01T23:00:00.000Z',
    ended_at: '2026-03-01T23:30:00.000Z',
  };
  const usage = {
    input_tokens: 1_000,
    output_tokens: 500,
    cached_tokens: 0,
    cost_usd: 0.5,
    cost_source: 'reported',
  };
  return { task_id, agent: 'ada', outcome, message: null, usage, ...times, ...more } as Run;
}

const SILENT = NO_USAGE;
const item = (task_id: string | null, message: string): InboxItem =>
  ({ kind: 'stuck', task_id, message, command: `forge task transition ${task_id} todo` }) as InboxItem;

const TASKS: ReportFacts['tasks'] = new Map(
  Object.entries({
    'fg-land': ['done', 'closed'],
    'fg-old': ['done', 'closed'],
    'fg-stuck': ['blocked', 'in_progress'],
    'fg-fail': ['todo', 'open'],
    'fg-wait': ['todo', 'open'],
    'fg-work': ['in_progress', 'in_progress'],
    'fg-hand': ['cancelled', 'closed'],
    'fg-idle': ['blocked', 'in_progress'],
  }).map(([id, [state = '', status]]) => [id, { title: `Title of ${id}`, state, status } as never]),
);

const FACTS: ReportFacts = {
  ...NIGHT,
  now: NOW,
  merged: [
    attempt('fg-land', '2026-03-02T03:00:00.000Z'),
    attempt('fg-old', '2026-03-01T21:59:59.999Z'),
    attempt('fg-next', NIGHT.until),
    attempt('fg-first', NIGHT.since),
  ],
  runs: [
    run('fg-land', 'completed'),
    run('fg-stuck', 'failed', { agent: 'bob', usage: SILENT }),
    run('fg-fail', 'unavailable', { usage: SILENT, message: 'no network' }),
    run('fg-fail', 'failed', { message: 'exit code 7' }),
    run('fg-wait', 'unavailable', { agent: 'bob', usage: SILENT, message: 'no network' }),
    run('fg-work', null, { ended_at: null, usage: SILENT }),
    run('fg-hand', 'completed'),
    run('fg-gone', 'completed'),
  ],
  inbox: [
    item('fg-stuck', '3 tries in a row failed'),
    item(null, 'a push was rejected'),
    item('fg-idle', 'it waits since last week'),
  ],
  at_work: new Set(['fg-work']),
  tasks: TASKS,
};

describe('a report', () => {
  const report = compileReport(FACTS);

  it('has what landed in that time, and nothing of before and after', () => {
    expect(report.landed.map(({ task_id }) => task_id)).toEqual(['fg-first', 'fg-land']);
    expect(report.landed.slice(1)).toEqual([
      {
        task_id: 'fg-land',
        title: 'Title of fg-land',
        agent: 'ada',
        merge_commit: 'fg-land0123456789',
        target: 'main',
        at: '2026-03-02T03:00:00.000Z',
      },
    ]);
  });

  it('has what did not, what waits for a person first, with why and what helps', () => {
    expect(report.not_landed.map(({ task_id, kind, why }) => `${task_id} ${kind}: ${why}`)).toEqual([
      'fg-stuck waiting: 3 tries in a row failed',
      'fg-idle waiting: it waits since last week',
      'fg-fail failed: exit code 7',
      'fg-wait open: no network',
      'fg-work at_work: it is at work',
      'fg-hand closed: it is cancelled',
      'fg-gone closed: it was deleted',
    ]);
    expect(report.not_landed[0]?.command).toBe('forge task transition fg-stuck todo');
  });

  it('names runs during which the checkout of the user changed, also those that landed', () => {
    expect(report.warnings).toEqual([]);
    const text = 'Your checkout has changed while it ran, by it or by you: README.md';
    const more = { id: 'ab12', message: `It ended. ${text}` };
    const warned = compileReport({ ...FACTS, runs: [...FACTS.runs, run('fg-land', 'completed', more)] });
    expect(warned.warnings).toEqual([
      { task_id: 'fg-land', run_id: 'ab12', agent: 'ada', message: text, command: 'forge runs logs ab12' },
    ]);
    const told = reportText({ ...warned, suspended: [] }, { color: false, columns: 80, now: NOW });
    expect(told).toContain(`Warnings\nfg-land  ada\n  ${text}\n  try: forge runs logs ab12`);
  });

  it('counts what was spent, and says what is not known', () => {
    expect(report.cost).toEqual({
      runs: 8,
      minutes: 7 * 30 + 7 * 60,
      input_tokens: 4_000,
      output_tokens: 2_000,
      usd: 2,
      estimated: false,
      unknown: 4,
    });
    expect(report.by_agent).toMatchObject([
      { agent: 'ada', runs: 6, usd: 2, unknown: 2 },
      { agent: 'bob', runs: 2, usd: null, unknown: 2, input_tokens: null },
    ]);
    expect(report.by_task.find(({ task_id }) => task_id === 'fg-stuck')).toMatchObject({ usd: null });
  });

  it('names first who cost most, and of those that cost the same who worked longest', () => {
    const ended_at = '2026-03-01T23:40:00.000Z';
    const runs = [
      run('fg-a', 'completed', { agent: 'short' }),
      run('fg-b', 'completed', { agent: 'long', ended_at }),
      run('fg-c', 'completed', { agent: 'free', ended_at, usage: SILENT }),
    ];
    const { by_agent, by_task } = compileReport({ ...FACTS, runs });
    expect(by_agent.map(({ agent }) => agent)).toEqual(['long', 'short', 'free']);
    expect(by_task.map(({ task_id }) => task_id)).toEqual(['fg-b', 'fg-a', 'fg-c']);
  });

  it('is short, with the counts first, and fits a terminal', () => {
    const long = 'x'.repeat(200);
    const wordy = compileReport({
      ...FACTS,
      inbox: [item('fg-stuck', long)],
      tasks: new Map([...TASKS].map(([id, task]) => [id, { ...task, title: long }])),
    });
    const suspended = [
      {
        agent: 'bob',
        fault: 'unavailable',
        mends: 'by_itself',
        reason: long,
        since: NIGHT.since,
        until: NIGHT.until,
        command: 'forge agent resume bob',
      } as const,
    ];
    const lines = reportText({ ...wordy, suspended }, { color: false, columns: 80, now: NOW }).split('\n');
    expect(lines[1]).toBe('2 landed, 6 did not, 1 for you: forge inbox, 1 agent suspended');
    expect(lines[2]).toBe('8 runs, 10 h 30 min, 6.0k tokens, $2.00 and 4 unknown');
    expect(lines.filter((line) => textWidth(line) > 80)).toEqual([]);
    const heads = lines.filter((line) => /^(Landed|Not landed|Suspended|Cost)$/.test(line));
    expect(heads).toEqual(['Landed', 'Not landed', 'Suspended', 'Cost']);
  });

  it('of a time in which nothing happened says so in two lines', () => {
    const none = compileReport({ ...FACTS, merged: [], runs: [], inbox: [] });
    const text = reportText({ ...none, suspended: [] }, { color: false, columns: 80, now: NOW });
    expect(text.split('\n')[1]).toBe('0 landed, 0 did not');
    expect(text.split('\n')).toHaveLength(2);
  });
});

describe('the days of this machine', () => {
  it('begin at its midnight, and have its hours', () => {
    const [year, month, day] = LOCAL_DAYS.toDay(NOW);
    const start = LOCAL_DAYS.toMoment(year, month, day);
    expect(start).toBeLessThanOrEqual(NOW);
    expect(NOW - start).toBeLessThan(25 * 3_600_000);
    expect(LOCAL_DAYS.toMoment(year, month, day, [1, 2, 3])).toBeGreaterThan(start);
    expect(LOCAL_DAYS.toDay(LOCAL_DAYS.toMoment(year, month, 0))).not.toEqual([year, month, 0]);
  });
});
