import { existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProject } from '#sync/find-project.ts';
import { forgeProjectHere } from '../../tests/support/forge-here.ts';
import { openContext, openFound, type ContextRequest } from './open-context.ts';

const quiet = (): void => undefined;

/** A context in a project without its link to the database, as `git clean` leaves it. */
async function openWithoutLink(request: Pick<ContextRequest, 'reads' | 'operation'>) {
  const project = await forgeProjectHere();
  const link = join(project.path, '.forge/forge.db');
  rmSync(link);
  const shared = { needs: 'project', cwd: project.path, env: project.env, actor: 'user:ann' } as const;
  const ctx = await openContext({ ...shared, ...request, progress: quiet, notice: quiet, meter: quiet });
  return {
    ctx,
    isLinked: () => lstatSync(link, { throwIfNoEntry: false }) !== undefined,
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

describe('what others rely on', () => {
  it('is kept up once, before a command that may write begins', async () => {
    await using open = await openWithoutLink({});
    expect(open.isLinked()).toBe(true);
  });

  it('keeps no command from its work where it cannot be kept up', async () => {
    await using project = await forgeProjectHere();
    const notices: string[] = [];
    const shared = join(project.path, '.git/forge/config.json');
    rmSync(shared);
    // Nothing can be put into the place of a folder.
    mkdirSync(join(shared, 'in-the-way'), { recursive: true });
    await using ctx = await openContext({
      needs: 'project',
      cwd: project.path,
      env: project.env,
      actor: 'user:ann',
      progress: quiet,
      notice: (line) => notices.push(line),
      meter: quiet,
    });
    expect(await ctx.project.store.readPause()).toBeNull();
    expect(notices.join()).toMatch(/the next command tries again/);
  });

  it.each([
    { what: 'a read', request: { reads: true } },
    { what: 'doctor, which tells what it finds', request: { operation: 'project.doctor' } },
  ])('is left as it is by $what, also when it asks who asks', async ({ request }) => {
    await using open = await openWithoutLink(request);
    expect(await open.ctx.actor()).toMatchObject({ kind: 'user', name: 'ann' });
    expect(existsSync(open.ctx.project.paths.store_dir)).toBe(true);
    expect(open.isLinked()).toBe(false);
  });
});

describe('[S212] [S128] a lock that another process holds', () => {
  it.each([
    { as: 'a command', lock: undefined, set: undefined, seconds: 60 },
    { as: 'a server', lock: 'await', set: undefined, seconds: 60 },
    { as: 'a command that is told to', lock: undefined, set: '5000', seconds: 5 },
  ] as const)('is waited for by $as for $seconds s', async ({ lock, set, seconds }) => {
    await using project = await forgeProjectHere();
    const env = { ...project.env, FORGE_LOCK_TIMEOUT_MS: set };
    const found = findProject(project.path, env, project.home);
    await using opened = await openFound(found, { env, notice: quiet, meter: quiet }, lock && { lock });
    using writer = project.openDatabase();
    writer.exec('BEGIN IMMEDIATE');
    using time = standStill();
    const by = { actor: { kind: 'user', name: 'ann', named: true }, now: 0 } as const;
    const ended = opened.store.pauseProject(true, by).then(
      () => 'written',
      (error: unknown) => error,
    );
    const waits = (): Promise<unknown> => Promise.race([ended, time.looks(3).then(() => 'waits')]);
    expect(await waits()).toBe('waits');
    time.set(seconds - 0.001);
    expect(await waits()).toBe('waits');
    time.set(seconds);
    expect(await ended).toMatchObject({ code: 'store_busy' });
  });
});

/** The time that deadlines are measured by, which a test moves; tells when somebody has looked at it so many times. */
function standStill(): Disposable & { set(seconds: number): void; looks(count: number): Promise<void> } {
  const real = process.hrtime;
  const [start] = real();
  let now: [number, number] = [start, 0];
  let waiting: { left: number; resolve: () => void } | undefined;
  const read = (): [number, number] => {
    if (waiting !== undefined && (waiting.left -= 1) === 0) waiting.resolve();
    return now;
  };
  process.hrtime = Object.assign(read, { bigint: () => real.bigint() });
  return {
    set: (seconds) => {
      now = [start + Math.floor(seconds), Math.round((seconds % 1) * 1_000_000_000)];
    },
    looks: (left) => new Promise<void>((resolve) => (waiting = { left, resolve })),
    [Symbol.dispose]: () => void (process.hrtime = real),
  };
}
