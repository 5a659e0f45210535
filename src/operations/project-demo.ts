import type { runDemo } from '#contract/project-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement, type Host } from './operation.ts';

interface DemoTask {
  readonly key: string;
  readonly title: string;
  readonly flags: readonly string[];
  readonly after: readonly string[];
}

const EPIC = 'Ship the greeting service';
const GRAPH: readonly DemoTask[] = [
  { key: 'schema', title: 'Design the greetings table', flags: ['--priority', '1'], after: [] },
  {
    key: 'server',
    title: 'Answer GET /greeting',
    flags: ['--type', 'feature', '--priority', '1'],
    after: ['schema'],
  },
  { key: 'page', title: 'Show the greeting on a page', flags: ['--type', 'feature'], after: ['server'] },
  {
    key: 'crash',
    title: 'Fix the crash on an empty name',
    flags: ['--type', 'bug', '--priority', '0', '--label', 'crash'],
    after: [],
  },
  { key: 'docs', title: 'Write the README', flags: ['--priority', '3'], after: ['schema'] },
  { key: 'release', title: 'Tag version 1.0', flags: [], after: ['page', 'crash', 'docs'] },
];
const WORKERS = ['worker-1', 'worker-2'] as const;

interface Closed {
  id: string;
  title: string;
  worker: string;
}

/** Real commands in a real repository: each worker is a process of its own for every step, as agents are. */
export const projectDemo = implement<typeof runDemo>({
  async run(ctx, input) {
    const { host } = ctx;
    const directory = await host.makeTemporaryFolder('forge-demo-');
    const kept = input.keep === true;
    try {
      await prepare(host, directory);
      const ids = await createGraph(host, directory);
      await showTree(host, directory, ids.get('release') ?? '');
      await showWorkflow(host, directory);
      const closed = await work(host, directory);
      await summarise(host, directory, ids.get('epic') ?? '');
      return { directory, kept, closed };
    } finally {
      if (!kept) await host.removeFolder(directory);
    }
  },
  text({ directory, kept, closed }) {
    const last = kept
      ? `Look around: cd ${escapeLine(directory)} && forge task list --all`
      : 'The repository is gone again; --keep keeps it.';
    return [
      `Done: ${closed.length} tasks by ${WORKERS.length} workers, each claimed exactly once. ${last}`,
      'In your own repository: forge init',
    ].join('\n');
  },
});

async function prepare(host: Host, cwd: string): Promise<void> {
  host.progress(`1. A git repository, and a Forge project in it   (${cwd})`);
  await run(host, 'git', ['init', '--quiet', '--initial-branch=main'], cwd);
  host.progress('   $ git init && forge init --name "Greeting service"');
  await run(host, 'forge', ['init', '--name', 'Greeting service'], cwd, { FORGE_ACTOR: 'user:you' });
}

async function createGraph(host: Host, cwd: string): Promise<Map<string, string>> {
  host.progress('\n2. A plan: an epic and six tasks, some of which wait for others');
  const ids = new Map<string, string>();
  const create = async (key: string, title: string, flags: readonly string[]): Promise<void> => {
    const task = await forge<{ id: string }>(host, ['task', 'create', title, ...flags], cwd, 'user:you');
    ids.set(key, task.id);
    const waits = flags.filter((_, i) => flags[i - 1] === '--depends-on');
    host.progress(`   ${task.id}  ${title}${waits.length > 0 ? `   (after ${waits.join(', ')})` : ''}`);
  };
  await create('epic', EPIC, ['--type', 'epic', '--state', 'backlog']);
  for (const task of GRAPH) {
    const after = task.after.flatMap((key) => ['--depends-on', ids.get(key) ?? '']);
    await create(task.key, task.title, [...task.flags, '--parent', ids.get('epic') ?? '', ...after]);
  }
  return ids;
}

async function showTree(host: Host, cwd: string, id: string): Promise<void> {
  host.progress(`\n3. What the release waits for\n   $ forge dep tree ${id}`);
  const { stdout } = await run(host, 'forge', ['dep', 'tree', id], cwd);
  host.progress(stdout.trimEnd().replace(/^/gm, '   '));
}

async function showWorkflow(host: Host, cwd: string): Promise<void> {
  host.progress('\n4. The way of every task\n   $ forge workflow show --json');
  const { stdout } = await run(host, 'forge', ['workflow', 'show', '--json'], cwd);
  const { states } = JSON.parse(stdout) as { states: { name: string; kind: string; next?: string[] }[] };
  for (const { name, kind, next = [] } of states)
    host.progress(
      `   ${name.padEnd(13)} ${kind.padEnd(9)} ${next.length > 0 ? `-> ${next.join(', ')}` : ''}`.trimEnd(),
    );
}

async function showEvents(host: Host, cwd: string): Promise<void> {
  host.progress('\n6. The feed that a board or a program follows\n   $ forge events --limit 8');
  const events = await forge<{ seq: number; type: string; task_id: string | null; triggered_by: string }[]>(
    host,
    ['events', '--limit', '8'],
    cwd,
    'user:you',
  );
  for (const { seq, type, task_id, triggered_by } of events)
    host.progress(`   ${String(seq).padStart(3)}  ${type.padEnd(15)} ${task_id ?? '-'}  ${triggered_by}`);
}

async function work(host: Host, cwd: string): Promise<Closed[]> {
  host.progress(
    '\n5. Two workers take what is ready until nothing is left\n   $ forge claim --next, then forge task close',
  );
  const closed: Closed[] = [];
  await Promise.all(WORKERS.map((worker) => workUntilDone(host, cwd, worker, closed)));
  return closed;
}

async function workUntilDone(host: Host, cwd: string, worker: string, closed: Closed[]): Promise<void> {
  for (;;) {
    const claim = await run(
      host,
      'forge',
      ['claim', '--next', '--json'],
      cwd,
      { FORGE_ACTOR: worker },
      [0, 3],
    );
    if (claim.exit === 3) {
      if (closed.length === GRAPH.length) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    const task = JSON.parse(claim.stdout) as { id: string; title: string };
    host.progress(`   ${worker}  claims  ${task.id}  ${task.title}`);
    await new Promise((resolve) => setTimeout(resolve, 150));
    await forge(host, ['task', 'close', task.id, '--reason', `Done by ${worker}`], cwd, worker);
    closed.push({ id: task.id, title: task.title, worker });
    host.progress(`   ${worker}  closes  ${task.id}`);
  }
}

async function summarise(host: Host, cwd: string, epic: string): Promise<void> {
  await forge(host, ['task', 'close', epic, '--reason', 'All children are closed'], cwd, 'user:you');
  await showEvents(host, cwd);
  host.progress('\n7. What is left on record\n   $ forge stats');
  const { stdout } = await run(host, 'forge', ['stats'], cwd);
  host.progress(`${stdout.trimEnd().replace(/^/gm, '   ')}\n`);
}

async function forge<T>(host: Host, args: readonly string[], cwd: string, actor: string): Promise<T> {
  const { stdout } = await run(host, 'forge', [...args, '--json'], cwd, { FORGE_ACTOR: actor });
  return JSON.parse(stdout) as T;
}

async function run(
  host: Host,
  command: 'git' | 'forge',
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  expected: readonly number[] = [0],
): Promise<{ stdout: string; exit: number }> {
  const result = await host.run(command, args, { cwd, env });
  if (expected.includes(result.exit)) return result;
  throw new ForgeError(
    'internal',
    `The demo stopped: ${command} ${args.join(' ')} exited with ${result.exit}: ${result.stderr || result.stdout}`,
  );
}
