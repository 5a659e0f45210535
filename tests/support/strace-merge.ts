import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openWorkshop, toTaskId, type OpenScenario, type Workshop } from './strace-scenarios.ts';
import { findLitter, readTaskFiles } from './strace-sweep.ts';

/** In place of the tracer's words: which of the two files' drivers is to be killed, and how. */
const WRAPPER = `#!/bin/sh
# The last argument is the file's name in the repository.
for name; do :; done
if [ "$name" = "$KILLED_FILE" ]; then exec $KILLER "$@"; fi
exec "$@"
`;

/**
 * A real \`git merge\` of two branches that each changed tasks, whose driver is killed for one of the two files. It ends
 * merged or as a conflict as git makes them; export, add and commit settle that, and nothing is lost.
 */
export async function mergeScenario(script: string, file: 'tasks' | 'history'): Promise<OpenScenario> {
  const shop = await openWorkshop(script, { tasks: 12 });
  const { template, place, forge, must, git } = shop;
  const wrapper = join(dirname(template), 'driver.sh');
  writeFileSync(wrapper, WRAPPER);
  chmodSync(wrapper, 0o755);
  await makeBranches(shop);
  const driver = (await git(template, 'config', 'merge.forge.driver')).stdout.trimEnd();
  await git(template, 'config', 'merge.forge.driver', `${wrapper} ${driver}`);
  const list = ['task', 'list', '--all', '--sort', 'id', '--json'];
  let merged: ReturnType<typeof readTaskFiles> | undefined;
  let tasks: string | undefined;
  const settle = async (copy: string): Promise<string[]> => {
    const wrong: string[] = [];
    for (const [program, ...args] of [
      [process.execPath, script, 'export'],
      ['git', 'add', '.forge'],
      ['git', 'commit', '--quiet', '--no-edit', '--allow-empty'],
    ]) {
      const { exit, stderr } = await place.exec(program ?? '', args, { cwd: copy });
      if (exit !== 0) wrong.push(`${program} ${args.join(' ')} fails afterwards: ${stderr}`);
    }
    return wrong;
  };
  return {
    place,
    template,
    start: (copy, tracer) =>
      place.exec('git', ['merge', '--quiet', '--no-edit', 'theirs'], {
        cwd: copy,
        env: { KILLER: tracer.join(' '), KILLED_FILE: `.forge/${file}.jsonl` },
      }),
    async rehearse(copy) {
      await settle(copy);
      merged = readTaskFiles(copy);
      tasks = await must(copy, ...list);
    },
    async examine(copy) {
      const wrong: string[] = [];
      const status = (await git(copy, 'status', '--porcelain')).stdout;
      const strange = status.split('\n').filter((line) => !/^(UU|M |) ?\.forge\/\w+\.jsonl$|^$/.test(line));
      if (strange.length > 0) wrong.push(`git status: ${strange.join('; ')}`);
      const next = await forge(copy, ...list);
      if (next.exit !== 0) wrong.push(`the next command fails: ${next.stdout}${next.stderr}`);
      if (next.stdout !== tasks) wrong.push('the next command does not show all that both sides have');
      wrong.push(...(await settle(copy)));
      const end = readTaskFiles(copy);
      if (end.tasks !== merged?.tasks) wrong.push('tasks.jsonl differs in the end');
      if (end.history !== merged?.history) wrong.push('history.jsonl differs in the end');
      const left = (await git(copy, 'status', '--porcelain', '--ignored')).stdout;
      if (left.includes('.tmp')) wrong.push(`left behind: ${left}`);
      wrong.push(...findLitter(copy, ['.forge']).map((name) => `left behind: ${name}`));
      return wrong;
    },
    [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
  };
}

/** Both sides made a task, closed one, and changed the same one in different fields. The store knows ours only. */
async function makeBranches({ template, must, git }: Workshop): Promise<void> {
  const theirs = join(dirname(template), 'theirs');
  cpSync(template, theirs, { recursive: true, verbatimSymlinks: true });
  const change = async (root: string, side: string, n: number, flags: string[]): Promise<void> => {
    await must(root, 'task', 'create', `Made by ${side}`);
    await must(root, 'task', 'close', toTaskId(n), '--reason', side);
    await must(root, 'task', 'update', toTaskId(6), ...flags);
    await must(root, 'export');
    await git(root, 'commit', '--quiet', '--no-verify', '--all', '-m', side);
  };
  await change(theirs, 'theirs', 1, ['--title', 'Their title']);
  await change(template, 'ours', 2, ['--priority', '0']);
  await git(template, 'fetch', '--quiet', theirs, 'HEAD:theirs');
  const files = readFileSync(join(template, '.forge', 'tasks.jsonl'), 'utf8');
  if (files.includes('Their title')) throw new Error('the branches are not apart');
}
