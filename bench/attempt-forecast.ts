import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { engineOf } from '#operations/engine-of.ts';
import { makeAttemptProject, openProject, scaled, type AttemptProject } from './attempt-project.ts';
import { median, type Result } from './measure.ts';

const ATTEMPTS = 50;
const FILES = scaled(3_000, 200);
const ROUNDS = 5;
const LIMIT_MS = 2_000;

/** `forge forecast` as a whole process: every attempt in conflict with every other, and none with any. */
export async function benchAttemptForecast(): Promise<Result[]> {
  return [
    await measureForecast('all change the same lines', (number) => ({
      path: 'part-0/file-1.txt',
      text: `another ${number}\n${'file 1\n'.repeat(149)}`,
      conflicts: (ATTEMPTS * (ATTEMPTS - 1)) / 2,
    })),
    await measureForecast('each changes a file of its own', (number) => ({
      path: `part-0/file-${number}.txt`,
      text: `another ${number}\n`,
      conflicts: 0,
    })),
  ];
}

interface Change {
  readonly path: string;
  readonly text: string;
  /** Of all attempts together. */
  readonly conflicts: number;
}

async function measureForecast(what: string, toChange: (number: number) => Change): Promise<Result> {
  using project = makeAttemptProject(FILES);
  await makeAttempts(project, toChange);
  const times: number[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const began = performance.now();
    const { pairs } = JSON.parse(project.forge('forecast', '--json')) as { pairs: unknown[] };
    if (round >= 0) times.push(performance.now() - began);
    if (pairs.length !== toChange(1).conflicts) throw new Error(`${what}: ${pairs.length} conflicts`);
  }
  return {
    what: `\`forge forecast\` over ${ATTEMPTS} attempts, ${FILES} files: ${what}`,
    baseline: `${LIMIT_MS / 1000} s`,
    ratio: median(times) / LIMIT_MS,
    budget: 1,
    sense: 'at most',
    figures: `${median(times).toFixed(0)} ms`,
  };
}

/** Their commits and rows, as agents would have left them; their folders are not looked at. */
async function makeAttempts(project: AttemptProject, toChange: (number: number) => Change): Promise<void> {
  const { path, git, forge } = project;
  await using ctx = await openProject(project);
  const { store } = ctx.project;
  const base_commit = git('rev-parse', 'main').trim();
  const heads = commitChanges(
    project,
    Array.from({ length: ATTEMPTS }, (_, at) => toChange(at + 1)),
  );
  for (const [at, head_commit] of heads.entries()) {
    const { id: task_id } = JSON.parse(forge('task', 'create', `Task ${at}`, '--json')) as { id: string };
    const { by } = await engineOf(ctx);
    const [id, name] = [randomUUID(), `bench-${at}`];
    const place = { name, path: `${path}-${name}`, target: 'main', base_commit, agent: null, port: null };
    await store.startAttempt({ id, task_id, ...place }, by);
    await store.changeAttempt({ id, head_commit }, by);
  }
}

/** One commit on main for each change, without a checkout. */
function commitChanges({ path, env }: AttemptProject, changes: readonly Change[]): readonly string[] {
  const input = changes.map(
    (change, at) =>
      `commit refs/heads/forge/bench-${at}\ncommitter Bench <bench@localhost> 1700000000 +0000\ndata 4\nwork\n` +
      `from refs/heads/main^0\nM 100644 inline ${change.path}\ndata ${change.text.length}\n${change.text}\n`,
  );
  execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: path, env, input: input.join('') });
  const refs = changes.map((_, at) => `refs/heads/forge/bench-${at}`);
  return execFileSync('git', ['rev-parse', ...refs], { cwd: path, env, encoding: 'utf8' })
    .trim()
    .split('\n');
}
