import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';
import { hasTerminal, onTerminal } from '../support/on-terminal.ts';

/** Lines of so many tasks that a meter is told of them several times. */
const TASKS = 3_500;

/** Work is shown that takes more than a second, and on this clock everything does. */
const SLOW = 'const { now } = Date; let n = 0; Date.now = () => now() + 2_000 * (n += 1);';

describe.skipIf(!hasTerminal)('[D14] on a terminal, how far long work is', () => {
  it('is shown while a file is imported', async () => {
    await using project = await forgeProject();
    writeFileSync(join(project.path, 'theirs.jsonl'), toLines());
    const { exit, stdout } = await onSlowTerminal(project, 'forge import theirs.jsonl');
    expect({ exit, stdout }).toMatchObject({ exit: 0 });
    expect(stdout).toMatch(toBar('Importing tasks'));
    expect(stdout).toContain(`Imported ${TASKS} new`);
  });

  it('is shown while the task file is joined in, and while a lost database is made anew', async () => {
    await using project = await forgeProject();
    writeFileSync(join(project.path, '.forge/tasks.jsonl'), toLines());
    const joined = await onSlowTerminal(project, 'forge ready');
    expect(joined.exit).toBe(0);
    expect(joined.stdout).toMatch(toBar('Reading .forge/tasks.jsonl'));
    for (const name of ['forge.db', 'forge.db-wal', 'forge.db-shm'])
      rmSync(join(project.path, '.git/forge', name), { force: true });
    const rebuilt = await onSlowTerminal(project, 'forge ready');
    expect(rebuilt.exit).toBe(0);
    expect(rebuilt.stdout).toMatch(toBar('Rebuilding the task database'));
    expect(rebuilt.stdout).toContain(`${TASKS} tasks`);
    const asked = await onSlowTerminal(project, 'forge doctor --rebuild');
    expect(asked.exit).toBe(0);
    expect(asked.stdout).toMatch(toBar('Rebuilding the task database'));
  });

  it('is not shown where the output is for a program, or nothing was to be said', async () => {
    await using project = await forgeProject();
    writeFileSync(join(project.path, 'theirs.jsonl'), toLines());
    for (const flag of ['--json', '--quiet']) {
      const { exit, stdout } = await onSlowTerminal(project, `forge import theirs.jsonl ${flag}`);
      expect([flag, exit, stdout.includes('Importing tasks')]).toEqual([flag, 0, false]);
    }
  });
});

/** The bar as it is drawn over itself, with some part of the work. */
function toBar(label: string): RegExp {
  return new RegExp(`\\r\\u001b\\[K${label.replaceAll('.', '\\.')} [█░]{24} \\d+ %`);
}

function onSlowTerminal(project: ForgeProject, command: string): ReturnType<typeof onTerminal> {
  const clock = join(project.home, 'slow-clock.cjs');
  writeFileSync(clock, SLOW);
  return onTerminal(project, command, { env: { NODE_OPTIONS: `--require=${JSON.stringify(clock)}` } });
}

function toLines(): string {
  const rest = { status: 'open', created_by: 'ann', created_at: '2026-01-01T00:00:00.000Z' };
  const lines = Array.from({ length: TASKS }, (_, n) => ({ id: `fg-t${n}`, title: `Task ${n}`, ...rest }));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
