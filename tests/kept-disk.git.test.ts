import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openServerProjects } from '#app/server-projects.ts';
import type { OutputOf } from '#contract/declare.ts';
import type { KeptUse } from '#contract/kept-use.ts';
import type { collectGarbage } from '#contract/sync-operations.ts';
import type { rescueWorkspaces } from '#contract/workspace-operations.ts';
import { systemClock } from '#kernel/clock.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { openStore } from '#store/open-store.ts';
import { toHomePlace } from '#sync/forge-home.ts';
import { HOLD } from './support/temp-store.ts';
import { FORGE } from './support/forge-cli.ts';
import { forgeProjectHere } from './support/forge-here.ts';
import { runTestGit } from './support/temp-repo.ts';

const DAY_MS = 86_400_000;
const AGENT = { FORGE_ACTOR: 'agent:bot' };

describe('what agents left on the disk', () => {
  it('is shown by forge status and forge doctor with what is allowed, and with what helps', async () => {
    await using project = await openProject();
    await project.addRescues(3);
    const text = await project.text('status');
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'On disk run logs 500.0 kB of 2.0 GB; rescue refs 3 of 500; finished worktrees 0 of 100, 0 B of 50.0 GB; events',
    );
    expect(await project.readUse('rescues')).toMatchObject({ number: 3, exceeded: null, command: null });
    project.set({ workspace: { rescue_limit: 1 }, runs: { log_limit_gb: 0.001 } });
    expect(await project.readUse('rescues')).toMatchObject({
      allowed: { number: 1, bytes: null, days: 90 },
      exceeded: '2 more than allowed; no person was shown 3 of them, and they stay until then',
    });
    expect(await project.text('status')).toMatch(
      /Too much +rescue refs: 2 more than allowed; [^]*try: forge workspace rescue/,
    );
    const doctor = await project.text('doctor');
    expect(doctor).toMatch(/warning +rescue refs +3 of 1, kept for 90 days: 2 more than allowed/);
    expect(doctor).toMatch(/ok +run logs +500\.0 kB of 1\.0 MB, kept for 90 days/);
    expect(doctor).toMatch(/ok +finished worktrees +0 of 100, 0 B of 50\.0 GB/);
    expect(doctor).toMatch(/ok +events +\d+ of 101,000, kept for 90 days/);
    expect(doctor).toMatch(/ok +local replica +\d+ B of 33\.6 MB/);
    // Settings with a fault are told as such.
    project.set({ workspace: { rescue_limit: 0 } });
    expect((await project.json<{ kept: unknown }>('status')).kept).toBeNull();
    expect((await project.run('doctor')).stdout).not.toMatch(/rescue refs/);
  });

  it('goes with forge gc, rescue refs only when a person was shown them', async () => {
    await using project = await openProject();
    await project.addRescues(3);
    project.set({ workspace: { rescue_limit: 1 } });
    const collect = async () => (await project.json<OutputOf<typeof collectGarbage>>('gc')).kept;
    const bot = project.with({ env: AGENT });
    expect((await bot.json<Rescues>('workspace', 'rescue')).rescues).toHaveLength(3);
    project.ageRescues(8 * DAY_MS);
    expect(await collect()).toEqual({ run_logs: { gone: 0, bytes: 0 }, rescues: [], worktrees: [] });
    const { rescues } = await project.json<Rescues>('workspace', 'rescue');
    expect(await project.text('workspace', 'rescue')).toContain(
      'sooner where there are more than 1; the newest',
    );
    const gone = rescues.slice(0, 2).map(({ ref, commit }) => ({ ref, commit }));
    expect(await collect()).toMatchObject({ rescues: [] });
    project.ageRescues(8 * DAY_MS);
    expect(await collect()).toMatchObject({ rescues: gone });
    expect((await project.json<Rescues>('workspace', 'rescue')).rescues).toHaveLength(1);
    for (const { commit } of gone) expect(project.git('cat-file', '-t', commit)).toBe('commit');
    project.set({ runs: { log_limit_gb: 0.001 } });
    project.grow(2_000_000);
    const inside = await project.with({ env: project.inside_run }).run('gc', '--json');
    expect([JSON.parse(inside.stdout || '{}').kept ?? null, statSync(project.log).size]).toEqual([
      null,
      2_000_000,
    ]);
    expect(await collect()).toMatchObject({ run_logs: { gone: 1, bytes: 2_000_000 } });
    expect(await project.text('runs', 'logs', project.run_id)).toContain('not kept any more');
  });

  it('goes by itself with a command that writes, once an hour, and not with one that reads or that an agent runs', async () => {
    await using project = await openProject();
    project.set({ runs: { log_limit_gb: 0.001 } });
    project.grow(2_000_000);
    const { mark } = project;
    const size = (): number => statSync(project.log).size;
    await project.text('task', 'list');
    const run = project.inside_run;
    await project.with({ env: run }).run('task', 'create', 'by an agent');
    expect([existsSync(mark), size()]).toEqual([false, 2_000_000]);
    const { stderr } = await project.run('task', 'create', 'written');
    expect(stderr).toContain('1 log of ended runs went (2.0 MB)');
    expect(size()).toBeLessThan(1_000);
    project.grow(2_000_000);
    await project.text('task', 'create', 'again');
    expect(size()).toBe(2_000_000);
    utimesSync(mark, 0, 0);
    await project.run('task', 'create', 'an hour later');
    expect(size()).toBeLessThan(1_000);
  });

  it('goes by itself with a server that looks after its project', async () => {
    await using project = await openProject();
    project.set({ runs: { log_limit_gb: 0.001 } });
    project.grow(2_000_000);
    const told: string[] = [];
    await using projects = await openServerProjects(
      { paths: [project.path], cwd: project.path },
      {
        place: toHomePlace(project.env, project.home),
        clock: systemClock,
        env: project.env,
        program: { node: process.execPath, script: FORGE },
        notice: (line) => void told.push(line),
      },
    );
    await projects.list()[0]?.keepUp();
    expect(statSync(project.log).size).toBeLessThan(1_000);
    expect(told).toEqual([expect.stringMatching(/: 1 log of ended runs went \(2\.0 MB\)$/)]);
  });
});

type Rescues = OutputOf<typeof rescueWorkspaces>;

/** A project with a closed task, on which an agent had a run whose attempt is over and whose log is there. */
async function openProject() {
  const project = await forgeProjectHere();
  const { id: task_id } = await project.create('worked on');
  const store_dir = join(project.path, '.git/forge');
  const git = (...args: string[]): string => runTestGit(project.path, args);
  if (git('rev-list', '--all', '--count') === '0') git('commit', '-q', '--allow-empty', '-m', 'first');
  const attempt_id = crypto.randomUUID();
  const run_id = crypto.randomUUID();
  {
    await using store = await openStore({ folder: store_dir }, { clock: systemClock, hold: HOLD });
    const by = { actor: { kind: 'system', name: '', named: true }, now: Date.now() } as const;
    const place = { name: 'a-one', path: '/none/a-one', target: 'main', port: null };
    const base_commit = git('rev-parse', 'HEAD');
    await store.startAttempt({ id: attempt_id, task_id, agent: 'w1', base_commit, ...place }, by);
    const how = { executor: 'shell', fence: null, in_state: null, session_id: null };
    const made = { id: run_id, task_id, attempt_id, agent: 'w1', role: 'coder', watcher: readOwnIdentity() };
    await store.createRun({ ...made, ...how, state: 'scheduled' }, by);
    await store.moveRun({ id: run_id, to: 'cancelled', outcome: 'stopped' }, by);
    const removed_at = new Date().toISOString();
    await store.changeAttempt({ id: attempt_id, state: 'archived', removed_at }, by);
  }
  await project.text('task', 'close', task_id, '--force', '--reason', 'done');
  const mark = join(store_dir, 'kept-up');
  rmSync(mark);
  const log = join(store_dir, 'attempts', attempt_id, `${run_id}.jsonl`);
  const grow = (bytes: number): void => {
    mkdirSync(join(log, '..'), { recursive: true });
    writeFileSync(log, `${'x'.repeat(bytes - 1)}\n`, { mode: 0o600 });
  };
  grow(500_000);
  return {
    ...project,
    git,
    log,
    inside_run: {
      FORGE_RUN_ID: 'x',
      FORGE_RUN_PROJECT: join(project.path, '.git'),
      FORGE_RUN_HOME: project.home,
    },
    mark,
    run_id,
    grow,
    set: (settings: object): void => {
      const home = project.env['FORGE_HOME'] ?? project.home;
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'settings.json'), JSON.stringify(settings));
    },
    /** As if all had been shown so much earlier. */
    ageRescues(ms: number): void {
      const path = join(store_dir, 'rescues.json');
      const text = readFileSync(path, 'utf8');
      const aged = text.replaceAll(/"told_at":(\d+)/g, (_, at: string) => `"told_at":${Number(at) - ms}`);
      writeFileSync(path, aged);
    },
    async addRescues(count: number): Promise<void> {
      for (let number = 1; number <= count; number += 1) {
        const commit = git('commit-tree', '-m', `Rescue ${number}`, git('rev-parse', 'HEAD^{tree}'));
        git('update-ref', `refs/forge/rescue/${attempt_id}/${number}`, commit);
      }
    },
    async readUse(what: KeptUse['what']): Promise<KeptUse | undefined> {
      const { kept } = await project.json<{ kept: readonly KeptUse[] }>('status');
      return kept.find((one) => one.what === what);
    },
  };
}
