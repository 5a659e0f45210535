import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { runDemo } from '#contract/project-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { AGENTS, EPIC, FILES, GRAPH, STEP, TRAJECTORIES } from './demo-story.ts';
import { implement, type Host } from './operation.ts';

interface Merged {
  id: string;
  title: string;
  worker: string;
}

/** A throw-away repository with a home of its own: nothing of it is left in that of the person. */
interface Stage {
  readonly host: Host;
  readonly repository: string;
  readonly home: string;
}

/** Real commands in a real repository, by real processes; only what the agents do was written down before. */
export const projectDemo = implement<typeof runDemo>({
  async run({ host }, { keep = false, no_serve = false }) {
    const directory = await host.makeTemporaryFolder('forge-demo-');
    const stage: Stage = { host, repository: `${directory}/greetings`, home: `${directory}/home` };
    const stays = host.interactive && !no_serve;
    // Also when somebody has seen enough before the end.
    if (!keep) await host.removeFolder(directory, { at_exit: true });
    try {
      await prepare(stage);
      const ids = await createGraph(stage);
      await showTree(stage, ids.get('release') ?? '');
      await showWorkflow(stage);
      const merged =
        host.runOnTerminal === undefined ? await work(stage) : await workInSight(stage, host.runOnTerminal);
      await summarise(stage, ids.get('epic') ?? '');
      const url = stays ? await serve(stage) : null;
      return { directory: stage.repository, kept: keep, closed: merged, url };
    } finally {
      if (!keep && !stays) await host.removeFolder(directory);
    }
  },
  text({ directory, kept, closed, url }) {
    const last = kept
      ? `Look around: cd ${escapeLine(directory)} && forge task list --all`
      : 'The repository goes when this ends; --keep keeps it.';
    return [
      `Done: ${closed.length} tasks by ${AGENTS.length} agents, each tested and merged. ${last}`,
      ...(url === null ? [] : [`A server shows it at ${url} until Ctrl-C.`]),
      'In your own repository: forge init',
    ].join('\n');
  },
});

async function prepare(stage: Stage): Promise<void> {
  const { host, repository } = stage;
  host.progress(`1. A repository with a check, and a Forge project in it   (${repository})`);
  for (const [name, text] of Object.entries(FILES)) await host.writeFile(`${repository}/${name}`, text);
  await git(stage, 'init', '--quiet', '--initial-branch=main');
  await git(stage, 'config', 'user.name', 'You');
  await git(stage, 'config', 'user.email', 'you@example.com');
  host.progress('   $ git init && forge init --name "Greeting service"');
  await forge(stage, 'init', '--name', 'Greeting service');
  await git(stage, 'add', '--all');
  await git(stage, 'commit', '--quiet', '--message', 'Begin');
  const script = `${stage.home}/agents.json`;
  await host.writeFile(script, JSON.stringify({ trajectories: TRAJECTORIES }, null, 2));
  for (const agent of AGENTS) {
    host.progress(`   $ forge agent add ${agent} --executor script --command agents.json`);
    await forge(stage, 'agent', 'add', agent, '--executor', 'script', `--command=${script}`);
  }
}

async function createGraph(stage: Stage): Promise<Map<string, string>> {
  const { host } = stage;
  host.progress('\n2. A plan: an epic and six tasks, some of which wait for others');
  const ids = new Map<string, string>();
  const create = async (key: string, title: string, flags: readonly string[]): Promise<void> => {
    const { id } = await json<{ id: string }>(stage, 'task', 'create', title, ...flags);
    ids.set(key, id);
    const waits = flags.filter((_, i) => flags[i - 1] === '--depends-on');
    host.progress(`   ${id}  ${title}${waits.length > 0 ? `   (after ${waits.join(', ')})` : ''}`);
  };
  await create('epic', EPIC, ['--type', 'epic', '--state', 'backlog']);
  for (const { key, title, flags, after } of GRAPH) {
    const waits = after.flatMap((other) => ['--depends-on', ids.get(other) ?? '']);
    await create(key, title, [...flags, '--ci-step', STEP, '--parent', ids.get('epic') ?? '', ...waits]);
  }
  return ids;
}

async function showTree(stage: Stage, id: string): Promise<void> {
  stage.host.progress(`\n3. What the release waits for\n   $ forge dep tree ${id}`);
  show(stage, await forge(stage, 'dep', 'tree', id));
}

async function showWorkflow(stage: Stage): Promise<void> {
  const { host } = stage;
  host.progress('\n4. The way of every task\n   $ forge workflow show --json');
  const { states } = await json<{ states: { name: string; kind: string; next?: string[] }[] }>(
    stage,
    'workflow',
    'show',
  );
  for (const { name, kind, next = [] } of states) {
    const line = `   ${name.padEnd(13)} ${kind.padEnd(9)} ${next.length > 0 ? `-> ${next.join(', ')}` : ''}`;
    host.progress(line.trimEnd());
  }
}

/** On a terminal: what a person would type, with all it shows while the agents work. */
async function workInSight(
  stage: Stage,
  runOnTerminal: NonNullable<Host['runOnTerminal']>,
): Promise<Merged[]> {
  const { host, repository } = stage;
  host.progress('\n5. The agents work: each task in a worktree of its own, checked, and merged in turn');
  host.progress('   $ forge dispatch --until-empty --merge --max 2');
  const args = ['dispatch', '--until-empty', '--merge', '--max', '2'];
  const exit = await runOnTerminal(args, { cwd: repository, env: toEnvironment(stage) });
  if (exit === INTERRUPTED) throw new ForgeError('interrupted', 'Interrupted');
  if (exit !== 0)
    throw new ForgeError('internal', `The demo stopped: \`forge dispatch\` exited with ${exit}`);
  const closed = await json<{ id: string; title: string; assignee: string | null; type: string }[]>(
    stage,
    'task',
    'list',
    '--status',
    'closed',
  );
  return closed.map(({ id, title, assignee }) => ({ id, title, worker: assignee ?? '' }));
}

const INTERRUPTED = 130;

/** Each agent takes what is ready for it, at the same time as the other, until nothing is. */
async function work(stage: Stage): Promise<Merged[]> {
  const { host } = stage;
  host.progress('\n5. The agents work: each task in a worktree of its own, checked, and merged in turn');
  const merged: Merged[] = [];
  for (;;) {
    const ready = await json<{ id: string }[]>(stage, 'ready', '--limit', '2');
    if (ready.length === 0) break;
    const rounds = ready.map(async ({ id }, at) => {
      const agent = AGENTS[at % AGENTS.length] ?? AGENTS[0];
      host.progress(`   $ forge run ${id} --agent ${agent} --merge`);
      const [worked] = await json<WorkedTask[]>(stage, 'run', id, '--agent', agent, '--merge');
      if (worked?.reached !== true)
        throw new ForgeError('internal', `The demo stopped: ${id} is in ${worked?.task.state}`);
      tell(stage, worked, agent);
      merged.push({ id, title: worked.task.title, worker: agent });
    });
    await Promise.all(rounds);
  }
  return merged;
}

function tell({ host }: Stage, { task, runs, merge }: WorkedTask, agent: string): void {
  const more = runs.length === 1 ? '' : `, at the second try`;
  host.progress(`   ${agent}  ${task.id}  ${task.title}: merged into ${merge?.target ?? ''}${more}`);
}

async function summarise(stage: Stage, epic: string): Promise<void> {
  const { host } = stage;
  await forge(stage, 'task', 'close', epic, '--reason', 'All children are done');
  host.progress('\n6. The feed: what a check and the queue had to say, and how it ended\n   $ forge events');
  const events = await json<DemoEvent[]>(stage, 'events', '--limit', '1000');
  for (const line of events.flatMap(toLine)) host.progress(`   ${line}`);
  for (const { seq, type, task_id, triggered_by } of events.slice(-6))
    host.progress(`   ${String(seq).padStart(3)}  ${type.padEnd(19)} ${task_id ?? '-'}  ${triggered_by}`);
  host.progress(
    '\n7. The default branch: every merge was tested as it stands there\n   $ git log --oneline --graph',
  );
  show(stage, await git(stage, 'log', '--oneline', '--graph', '--first-parent', 'main'));
  host.progress('\n8. What is left on record\n   $ forge stats');
  show(stage, await forge(stage, 'stats'));
  host.progress('');
}

interface DemoEvent {
  readonly seq: number;
  readonly triggered_by: string;
  readonly type: string;
  readonly task_id: string | null;
  readonly data: { readonly review?: WorkedTask['review']; readonly merge?: WorkedTask['merge'] };
}

function toLine({ type, task_id, data }: DemoEvent): string[] {
  const { review, merge } = data;
  if (type === 'review.finished' && review?.status === 'failed') {
    const said = review.step_results.at(-1)?.output.split('\n')[0] ?? '';
    return [escapeLine(`${task_id}  the check said no: ${said}`)];
  }
  if (type === 'merge.finished' && merge?.state === 'conflict')
    return [escapeLine(`${task_id}  the queue said no: ${merge.message ?? ''}`)];
  return [];
}

async function serve({ host, repository }: Stage): Promise<string> {
  const { url } = await host.serve({ projects: [repository] });
  return url;
}

function show({ host }: Stage, text: string): void {
  host.progress(text.trimEnd().replace(/^/gm, '   '));
}

async function json<T>(stage: Stage, ...args: string[]): Promise<T> {
  return JSON.parse(await forge(stage, ...args, '--json')) as T;
}

function forge(stage: Stage, ...args: string[]): Promise<string> {
  return run(stage, 'forge', args);
}

function git(stage: Stage, ...args: string[]): Promise<string> {
  return run(stage, 'git', args);
}

async function run(stage: Stage, command: 'git' | 'forge', args: readonly string[]): Promise<string> {
  const { host, repository } = stage;
  const env = toEnvironment(stage);
  const { stdout, stderr, exit } = await host.run(command, args, { cwd: repository, env });
  if (exit === 0) return stdout;
  throw new ForgeError(
    'internal',
    `The demo stopped: ${command} ${args.join(' ')} exited with ${exit}: ${stderr || stdout}`,
  );
}

function toEnvironment({ home }: Stage): Record<string, string> {
  return { FORGE_HOME: home, FORGE_ACTOR: 'user:you' };
}
