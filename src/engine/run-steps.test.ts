import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { toChildEnvironment } from '#process/child-environment.ts';
import { CONTAINMENT_KINDS, openProcessHost, type ProcessHost } from '#process/process-host.ts';
import { createSecrets } from './agent-secrets.ts';
import { runStep, runSteps, type StepPlace } from './run-steps.ts';

let folder: string;
let host: ProcessHost;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'forge-steps-'));
  host = await openProcessHost({ accept: ['marker'] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const place = (more: Partial<StepPlace> = {}): StepPlace => ({
  cwd: folder,
  // A login shell reads what the user has there, and what is killed in the middle of that may leave a lock behind.
  env: { ...toChildEnvironment(process.env), HOME: folder },
  host,
  marker: `steps-${randomUUID()}`,
  timeout_ms: 60_000,
  output_bytes: 10_000_000,
  secrets: createSecrets([]),
  ...more,
});

describe('a step', () => {
  it('[S222] runs in a login shell of bash, in the folder it is given', async () => {
    const { output, outcome, exit_code } = await runStep('echo $0; shopt login_shell; pwd', place());
    expect(outcome).toBe('passed');
    expect(exit_code).toBe(0);
    expect(output).toMatch(/bash\nlogin_shell\s+on\n/);
    expect(output).toContain(folder);
  });

  it('[A18] finds the programs that the user calls, whatever the profile puts first', async () => {
    writeFileSync(join(folder, '.bash_profile'), 'PATH=/profile/bin:/usr/bin:/bin');
    const path = `/users/own:${process.env['PATH']}`;
    const env = { ...place().env, PATH: path };
    const { output } = await runStep('echo "$PATH"; echo "${FORGE_CALLER_PATH-unset}"', place({ env }));
    rmSync(join(folder, '.bash_profile'));
    expect(output).toBe(`${path}:/profile/bin:/usr/bin:/bin\nunset`);
  });

  it.for(CONTAINMENT_KINDS)('has the exit code of its shell, held by a %s', async (kind, context) => {
    const held = await openProcessHost({ accept: [kind] });
    if (held.containment.kind !== kind) return context.skip(`no ${kind} here`);
    for (const code of [0, 1, 127, 130, 137, 255])
      expect(await runStep(`exit ${code}`, place({ host: held }))).toMatchObject({ exit_code: code });
    const killed = `bash -c 'kill -KILL $$'; exit $?`;
    expect(await runStep(killed, place({ host: held }))).toMatchObject({ exit_code: 137, outcome: 'failed' });
  });

  it('says how it ended', async () => {
    expect(await runStep('echo no >&2; exit 3', place())).toMatchObject({
      outcome: 'failed',
      exit_code: 3,
      output: 'no',
    });
    expect(await runStep('sleep 60', place({ timeout_ms: 100 }))).toMatchObject({ outcome: 'timeout' });
    expect(await runStep('yes', place({ output_bytes: 10_000 }))).toMatchObject({
      outcome: 'output_limit',
    });
    expect(await runStep('true', place({ cwd: join(folder, 'gone') }))).toMatchObject({
      outcome: 'start_failed',
    });
  });

  it('is ended when nobody wants it any more', async () => {
    const ending = new AbortController();
    const step = runStep(
      'echo begun; sleep 60',
      place({ signal: ending.signal, line: () => ending.abort() }),
    );
    expect(await step).toMatchObject({ outcome: 'stopped' });
  });

  it('keeps the end of a long output', async () => {
    const { output } = await runStep('seq 1 100000', place());
    expect(output.length).toBeLessThanOrEqual(LIMITS.step_tail_length);
    expect(output.length).toBeGreaterThan(LIMITS.step_tail_length - '\n100000\n'.length);
    expect(output.endsWith('\n100000')).toBe(true);
  });
});

it('a step that fails inside of walls says that they may be why, and one that passes does not', async (context) => {
  const walled = await openProcessHost({ accept: ['bubblewrap'] });
  if (walled.containment.kind !== 'bubblewrap') return context.skip('no bubblewrap here');
  const none = { writable: [], replaced: [], own: [], fixed: [], hidden: [], sealed: [], let_in: [] };
  const walls = { work: { path: folder, read_only: false }, ...none, readable: [] };
  const outputOf = async (code: number): Promise<string> => {
    const step = `echo 'touch: /x: Permission denied /x'; exit ${code}`;
    return (await runStep(step, place({ host: walled, walls }))).output;
  };
  expect(await outputOf(0)).not.toContain('inside of walls');
  expect(await outputOf(1)).toContain('inside of walls');
  expect(await outputOf(2)).toContain('inside of walls');
});

describe('steps', () => {
  it('run until one fails', async () => {
    const seen: string[] = [];
    const results = await runSteps(['true', 'false', 'touch never'], place(), async ({ command }) => {
      seen.push(command);
    });
    expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'failed']);
    expect(seen).toEqual(['true', 'false']);
  });

  it('that are none have nothing to fail', async () => {
    expect(await runSteps([], place())).toEqual([]);
  });
});

describe('a line of megabytes that a step prints', () => {
  const KEY = `ghp_${'a1B2'.repeat(9)}`;

  it('[H2] is looked at and kept by its end alone, and what stands at the cut is not shown', async () => {
    const lines: string[] = [];
    // Keys all along, so that one of them is at the cut.
    const script = `process.stdout.write(" ${KEY}".repeat(100_000) + " zz".repeat(7_000) + "\\n")`;
    const { output, outcome } = await runStep(
      `'${process.execPath}' -e '${script}'`,
      place({ line: (text) => lines.push(text) }),
    );
    expect(outcome).toBe('passed');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThanOrEqual(LIMITS.step_tail_length + 100);
    expect(lines[0]).toMatch(/^\(\d+ characters before this are left out\) /);
    for (const shown of [output, ...lines]) expect(shown).not.toMatch(/a1B2|ghp_/);
    expect(output).toMatch(/ zz zz zz$/);
  });
});

describe('a step whose output cannot be redacted', () => {
  const broken = (text: string): string => {
    if (text.includes('boom')) throw new RangeError(`cannot read ${text}`);
    return text;
  };
  const secrets = { ...createSecrets([]), openLines: () => (line: { text: string }) => broken(line.text) };

  it('[H2] is ended, and fails with the reason and without the text', async () => {
    const lines: string[] = [];
    const result = await runStep(
      'echo one; echo boom-secret; echo three; sleep 600',
      place({ secrets, line: (text) => lines.push(text) }),
    );
    expect(result).toMatchObject({ outcome: 'failed', exit_code: null });
    expect(result.output).toContain('could not be redacted or kept (RangeError)');
    expect(result.output).not.toContain('boom');
    expect(lines).toEqual(['one']);
  });
});
