import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '#kernel/errors.ts';
import { toClone, type Clone } from './git-clones.ts';
import type { ForgePlace } from './forge-cli.ts';
import type { Random } from './random.ts';

/** What a step may use: its clone, and what all steps of the sequence share. */
export interface ProcessStepGiven {
  readonly clone: Clone;
  readonly name: string;
  readonly place: ForgePlace;
  readonly random: Random;
  /** The tasks that the clone knows, in the order of their making. */
  readonly ids: readonly string[];
  /** Told of every new task. */
  readonly made: (id: string) => void;
  /** A number that no step had before. */
  readonly number: number;
  /** What the user wrote into each file, ever. */
  readonly written: Map<string, Set<string>>;
}

/** Runs real programs in one clone; returns what happened, in a few words. */
export type ProcessStep = (given: ProcessStepGiven) => Promise<string>;

/** Only Forge's own programs: no file of the user may change under them. */
export const FORGE_STEPS = {
  create: async (given) => {
    const id = await forge(given, 'task', 'create', `${given.name} ${given.number}`, '--label', 'made');
    return id ?? 'refused';
  },
  edit: async (given) => {
    const { random, number } = given;
    const change = random.pick([
      ['--title', `Title ${number}`],
      ['--description', `Text ${number}`],
      ['--priority', String(random.below(5))],
      ['--label-add', `l${random.below(4)}`],
      ['--meta-set', `k${random.below(3)}=${number}`],
      ['--label-remove', 'made'],
    ]);
    return onTask(given, (id) => ['task', 'update', id, ...change]);
  },
  comment: (given) => onTask(given, (id) => ['task', 'comment', id, `Said ${given.number}`]),
  claim: (given) => onTask(given, (id) => ['claim', id, ...(given.random.oneIn(3) ? ['--force'] : [])]),
  close: (given) => onTask(given, (id) => ['task', 'close', id, '--reason', `Done ${given.number}`]),
  reopen: (given) => onTask(given, (id) => ['task', 'reopen', id]),
  delete: (given) => onTask(given, (id) => ['task', 'delete', id]),
  restore: (given) => onTask(given, (id) => ['task', 'restore', id]),
  'dep add': (given) => onTask(given, (id) => ['dep', 'add', id, given.random.pick(given.ids)]),
  'forge commit': async (given) => (await forge(given, 'commit')) ?? 'refused',
  'forge sync': async (given) => (await forge(given, 'sync')) ?? 'refused',
  'forge export': async (given) => (await forge(given, 'export')) ?? 'refused',
  'rm forge.db': async (given) => {
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(given.clone.path, '.git', 'forge', `forge.db${suffix}`), { force: true });
    return (await forge(given, 'ready')) ?? 'refused';
  },
  // What was in no file yet would be gone with it, so it is exported before.
  'rm -rf .git/forge': async (given) => {
    await forge(given, 'export');
    rmSync(join(given.clone.path, '.git', 'forge'), { recursive: true, force: true });
    return (await forge(given, 'ready')) ?? 'refused';
  },
  'edit by hand': async (given) => {
    await forge(given, 'export');
    const path = join(given.clone.path, '.forge', 'tasks.jsonl');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    // The title itself, not the stamp that bears its name.
    const titles = [...text.matchAll(/","title":"[^"]+"/g)].map(([found]) => found);
    if (titles.length === 0) return 'nothing to edit';
    writeFileSync(path, text.replace(given.random.pick(titles), `","title":"By hand ${given.number}"`));
    return (await forge(given, 'ready')) ?? 'refused';
  },
} satisfies Record<string, ProcessStep>;

export const GIT_PROCESS_STEPS = {
  commit: async (given) => {
    const file = addFile(given);
    return git(given, 'add', file) + git(given, 'commit', '-m', `change ${given.number}`);
  },
  'commit -a': async (given) => {
    const branch = given.clone.tryGit(['branch', '--show-current']).output.trim();
    writeUserFile(given, `src/${given.name}-${branch}.txt`);
    git(given, 'add', '-N', 'src');
    return git(given, 'commit', '-a', '-m', `change ${given.number}`);
  },
  'commit of named files': async (given) => {
    const file = addFile(given);
    git(given, 'add', file);
    return git(given, 'commit', '-m', `change ${given.number}`, '--', file);
  },
  'commit --amend': async (given) => {
    // Without the first commit the clones would have no history in common.
    if (given.clone.tryGit(['rev-parse', '--verify', '--quiet', 'HEAD~1']).exit !== 0)
      return 'the first commit';
    git(given, 'add', addFile(given));
    return git(given, 'commit', '--amend', '--no-edit');
  },
  'commit --no-verify': async (given) => {
    git(given, 'add', addFile(given));
    return git(given, 'commit', '-a', '--no-verify', '-m', `change ${given.number}`);
  },
  switch: async (given) => {
    const name = given.random.pick(['main', 'topic', 'fix']);
    const known = given.clone.tryGit(['rev-parse', '--verify', '--quiet', `refs/heads/${name}`]).exit === 0;
    return git(given, 'switch', ...(known ? [] : ['-c']), name);
  },
  merge: (given) => withOther(given, (other) => ['merge', '--no-edit', other]),
  'merge --squash': async (given) => {
    const told = await withOther(given, (other) => ['merge', '--squash', other]);
    return `${told}; ${git(given, 'commit', '-m', `squash ${given.number}`)}`;
  },
  rebase: (given) => withOther(given, (other) => ['rebase', other]),
  'cherry-pick': (given) => withOther(given, (other) => ['cherry-pick', '--allow-empty', other]),
  pull: async (given) => git(given, 'pull', '--no-rebase', '--no-edit', 'origin', 'main'),
  'pull --rebase': async (given) => git(given, 'pull', '--rebase', 'origin', 'main'),
  push: async (given) => git(given, 'push', 'origin', 'HEAD'),
  fetch: async (given) => git(given, 'fetch'),
  stash: async (given) => {
    await forge(given, 'export');
    return `${git(given, 'stash')}; ${given.random.oneIn(2) ? git(given, 'stash', 'pop') : 'kept'}`;
  },
  'stash pop': async (given) => git(given, 'stash', 'pop'),
  'reset --hard': async (given) =>
    git(given, 'reset', '--hard', given.random.pick(['HEAD', 'HEAD~1', 'HEAD~2'])),
  'clean -fdx': async (given) => git(given, 'clean', '-fdx'),
  worktree: async (given) => {
    const path = join(given.clone.path, '..', `worktree ${given.number}`);
    const added = git(given, 'worktree', 'add', '-b', `side-${given.number}`, path);
    if (!existsSync(path)) return added;
    const side = { ...given, clone: toClone(path, given.place, 'the program') };
    const told = await FORGE_STEPS.create(side);
    await GIT_PROCESS_STEPS.commit(side);
    return `${told}; ${git(given, 'worktree', 'remove', '--force', path)}`;
  },
} satisfies Record<string, ProcessStep>;

/** What a command may say when the task is in the wrong state for it, or not here yet. */
const REFUSALS: readonly ErrorCode[] = [
  'not_found',
  'state_invalid',
  'claim_conflict',
  'dependency_cycle',
  'dependency_gate',
];

/** Undefined where it was refused for a reason that is no fault. */
async function forge(given: ProcessStepGiven, ...args: string[]): Promise<string | undefined> {
  const { exit, stdout, stderr } = await given.clone.run(...args, '--json');
  const answer = JSON.parse(stdout || '{}') as { id?: string; error?: { code: ErrorCode } };
  if (exit !== 0 && !REFUSALS.includes(answer.error?.code ?? 'internal'))
    throw new Error(`forge ${args.join(' ')} ended with ${exit}: ${stdout}${stderr}`);
  if (exit !== 0) return undefined;
  if (args[1] === 'create' && answer.id !== undefined) given.made(answer.id);
  return `${answer.id ?? 'done'} ${stderr.trim()}`;
}

async function onTask(given: ProcessStepGiven, args: (id: string) => string[]): Promise<string> {
  if (given.ids.length === 0) return 'no tasks';
  const id = given.random.pick(given.ids);
  return `${id} ${(await forge(given, ...args(id))) ?? 'refused'}`;
}

/** Git may refuse; what it leaves half done is given up, and never because of the task files. */
export function git({ clone }: Pick<ProcessStepGiven, 'clone'>, ...args: string[]): string {
  const { exit, output } = clone.tryGit(args);
  const unmerged = clone.tryGit(['ls-files', '-u', '--', '.forge']).output;
  if (unmerged !== '') throw new Error(`git ${args.join(' ')} left the task files unmerged:\n${output}`);
  if (exit === 0) return 'done';
  for (const verb of ['merge', 'rebase', 'cherry-pick']) clone.tryGit([verb, '--abort']);
  if (clone.tryGit(['ls-files', '-u']).output !== '') clone.tryGit(['reset', '--hard']);
  return `refused: ${output.trim().split('\n').at(-1) ?? ''}`;
}

async function withOther(given: ProcessStepGiven, args: (other: string) => string[]): Promise<string> {
  const { clone, random } = given;
  const head = clone.tryGit(['branch', '--show-current']).output.trim();
  const refs = clone.tryGit([
    'for-each-ref',
    '--format=%(refname:short)',
    'refs/heads',
    'refs/remotes',
  ]).output;
  const others = refs.split('\n').filter((ref) => !['', head, 'origin', 'origin/HEAD'].includes(ref));
  if (others.length === 0) return 'no other branch';
  const other = random.pick(others);
  return `${other}: ${git(given, ...args(other))}`;
}

function addFile(given: ProcessStepGiven): string {
  const file = `src/${given.name}-${given.number}.txt`;
  writeUserFile(given, file);
  return file;
}

function writeUserFile({ clone, number, written }: ProcessStepGiven, file: string): void {
  const text = `${file} ${number}\n`;
  clone.write(file, text);
  const known = written.get(file);
  if (known === undefined) written.set(file, new Set([text]));
  else known.add(text);
}

/** Every file of the working tree that is not Forge's, with what is in it. */
export function readUserFiles(path: string): Map<string, string> {
  const files = new Map<string, string>();
  const folder = join(path, 'src');
  if (!existsSync(folder)) return files;
  for (const name of readdirSync(folder).sort())
    files.set(`src/${name}`, readFileSync(join(folder, name), 'utf8'));
  return files;
}
