import { describe, expect, it } from 'vitest';
import type { TranscriptEntry } from '#contract/transcript.ts';
import {
  listRecordings,
  readRecording,
  toProtocolEntries,
  type Recording,
  type RecordingHead,
} from '../../tests/support/agent-recordings.ts';
import { ACP_PRESETS } from './acp-presets.ts';
import { toAcpSession } from './acp.ts';
import { toClaudeSession } from './claude.ts';
import { toCodexSession } from './codex.ts';
import { concludeRun } from './conclude-run.ts';
import { decidePermission } from './decide-permission.ts';
import type { RunEnd, RunSpec } from './executor.ts';
import type { PermissionAsk, ProtocolSession, SessionStep } from './protocols/session.ts';

/** What real CLIs said, kept by `npm run test:agents`: Forge must say and make of it what it did then. */
describe('[S233] what a real agent CLI said', () => {
  it.each(listRecordings())('%s is understood as it was', (name) => {
    const recording = readRecording(name);
    const played = replay(recording);
    expect(played.said).toEqual(
      recording.lines.filter(({ from }) => from === 'forge').map(({ line }) => line),
    );
    expect(played.entries).toEqual(recording.entries);
    expect(played.end).toEqual(recording.end);
  });

  it('is there of every CLI: an edit, both answers, a session gone on with, and a cancelled run', () => {
    const wanted = ['claude', 'codex', 'gemini', 'opencode'].flatMap((cli) =>
      ['edit', 'allowed', 'denied', 'resume', 'cancelled'].map((scenario) => `${cli}-${scenario}`),
    );
    expect(listRecordings()).toEqual(expect.arrayContaining(wanted));
  });

  it.each(listRecordings())('%s keeps nothing of where and when it was made', (name) => {
    const text = JSON.stringify(readRecording(name));
    expect(text).not.toMatch(/(?<!\w)\/tmp\/|forge-agents|127\.0\.0\.1:\d{2,}/);
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-/);
    expect(text.length).toBeLessThan(60_000);
  });

  describe('and a recording that was changed', () => {
    const MUTANTS: Readonly<Record<string, (recording: Recording) => Recording>> = {
      'lacks a line of the agent': (one) => ({
        ...one,
        lines: one.lines.filter((line) => !endsTurn(line.line)),
      }),
      'lacks a line of Forge': (one) => ({ ...one, lines: one.lines.filter(({ from }) => from === 'agent') }),
      'has other words': (one) => changeText(one, 'The file is written.', 'The file is gone.'),
      'has another answer': (one) => ({ ...one, head: { ...one.head, answer: 'denied' } }),
      'ended otherwise': (one) => ({ ...one, end: { ...one.end, outcome: 'failed' } }),
      'has another entry': (one) => ({ ...one, entries: one.entries.slice(1) }),
    };

    it.each(Object.keys(MUTANTS))('that %s is not what was said', (name) => {
      const unnoticed = ['claude', 'codex', 'gemini', 'opencode'].filter((cli) => {
        const recording = readRecording(`${cli}-allowed`);
        return isAsRecorded(MUTANTS[name]?.(recording) ?? recording);
      });
      expect(unnoticed).toEqual([]);
    });
  });
});

function isAsRecorded(recording: Recording): boolean {
  const { said, entries, end } = replay(recording);
  const forge = recording.lines.filter(({ from }) => from === 'forge').map(({ line }) => line);
  return [
    [said, forge],
    [entries, recording.entries],
    [end, recording.end],
  ].every(([now, then]) => JSON.stringify(now) === JSON.stringify(then));
}

function endsTurn(line: unknown): boolean {
  const text = JSON.stringify(line);
  return /"stopReason"|"turn\/completed"|"type":"result"/.test(text);
}

/** In what the agent said, not in what Forge made of it. */
function changeText(recording: Recording, from: string, to: string): Recording {
  const lines = JSON.parse(JSON.stringify(recording.lines).replaceAll(from, to)) as Recording['lines'];
  return { ...recording, lines };
}

interface Replayed {
  readonly said: readonly unknown[];
  readonly entries: readonly TranscriptEntry[];
  readonly end: RunEnd;
}

/** The agent's lines go in, in their order; where Forge spoke without being spoken to, it does so again. */
function replay({ head, lines, end }: Recording): Replayed {
  const session = openSession(head, lines);
  const said: unknown[] = [];
  const entries: TranscriptEntry[] = [];
  const asked: PermissionAsk[] = [];
  const perform = (steps: readonly SessionStep[]): void => {
    for (const step of steps) {
      if (step.do === 'write') said.push(JSON.parse(step.line));
      else if (step.do === 'tell') entries.push(step.entry);
      else if (step.do === 'ask') asked.push(step.ask);
    }
  };
  perform(session.begin());
  let heard = 0;
  for (const { from, line } of lines) {
    if (from === 'agent') perform(session.take(typeof line === 'string' ? line : JSON.stringify(line)));
    else {
      heard += 1;
      if (said.length < heard) perform(speak(session, asked.shift(), head));
    }
  }
  perform(session.pause?.() ?? []);
  return { said, entries: toProtocolEntries(entries), end: conclude(session, head, end) };
}

/** An answer to what is open; otherwise the agent was silent for a moment, or it was stopped. */
function speak(
  session: ProtocolSession,
  ask: PermissionAsk | undefined,
  head: RecordingHead,
): readonly SessionStep[] {
  if (ask !== undefined) {
    const judged = decidePermission(ask, {
      policy: head.spec.profile.permissions,
      read_only: head.spec.read_only,
      cwd: head.spec.cwd,
    });
    if (judged.decision === 'denied') return session.answer(ask.id, 'denied', judged.reason);
    const decision = judged.decision === 'ask' ? head.answer : judged.decision;
    return session.answer(ask.id, decision, decision === 'denied' ? 'The user said no' : '');
  }
  const paused = session.pause?.() ?? [];
  return paused.some((step) => step.do === 'write') ? paused : [...paused, ...session.interrupt()];
}

function conclude(session: ProtocolSession, head: RecordingHead, { exit_code, survivors }: RunEnd): RunEnd {
  const end = concludeRun({
    program: head.executor,
    report: session.report(),
    why: head.stopped ? 'stopped' : undefined,
    now: head.now,
    errors_on_stderr: true,
    ended: {
      exit: exit_code,
      signal: null,
      error: undefined,
      reason: head.stopped ? 'stopped' : 'exited',
      survivors,
      containment: 'marker',
      stderr_tail: '',
      output_bytes: 0,
      usage: { cpu_ms: 0, max_rss: 0 },
    },
  });
  // What is undefined is not in a file.
  return JSON.parse(JSON.stringify(end)) as RunEnd;
}

function openSession(
  { executor, spec: kept, forge: version, now, books }: RecordingHead,
  lines: Recording['lines'],
): ProtocolSession {
  const spec: RunSpec = { ...kept, env: {}, limits: { total_ms: 0, idle_ms: 0, output_bytes: 0 } };
  const tools = { version, clock: { now: () => now } };
  const named = lines
    .filter(({ from }) => from === 'forge')
    .map(({ line }) => (line as { uuid?: string }).uuid);
  const uuids = named.filter((uuid) => uuid !== undefined);
  if (executor === 'claude')
    return toClaudeSession(spec, { ...tools, createId: () => uuids.shift() ?? 'none' });
  if (executor === 'codex') return toCodexSession(spec, tools);
  const preset = Object.entries(ACP_PRESETS).find(([name]) => name === executor)?.[1];
  const counts = books === undefined ? [] : [books.before];
  return toAcpSession(spec, { ...tools, preset, countOpencode: () => counts.shift() ?? books?.after });
}
