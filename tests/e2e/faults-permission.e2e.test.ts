import { execFile } from 'node:child_process';
import { chmodSync, lchownSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ErrorBody } from '#kernel/errors.ts';
import { FORGE, type ForgeProject, type ProgramResult } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { startForgeServer } from '../support/forge-server.ts';
import { bringTasks, readStore } from '../support/store-snapshot.ts';

/** Root may write everywhere, so then forge runs as nobody, to whom the store is given. */
const NOBODY = process.getuid?.() === 0 ? 65_534 : undefined;

describe('a store that may not be written', () => {
  test('database: reads work, writes are refused, and nothing is left in the way', async () => {
    await using owned = await ownedProject();
    const before = readStore(owned.project.path);
    await owned.without({ 'forge.db': 0o444 }, async () => {
      expect
        .soft(await owned.run('ready'))
        .toMatchObject({ exit: 0, stdout: expect.stringContaining('fg-aaaa') });
      await owned.refuses('task', 'create', 'x');
      await owned.refuses('claim', '--next');
    });
    expect(readStore(owned.project.path)).toEqual(before);
  });

  test('database: a read that has something to remember goes on without', async () => {
    await using owned = await ownedProject();
    await owned.without({ 'forge.db': 0o444 }, async () => {
      const now = new Date();
      utimesSync(join(owned.project.path, '.forge', 'tasks.jsonl'), now, now);
      expect(await owned.run('ready')).toMatchObject({
        exit: 0,
        stdout: expect.stringContaining('fg-aaaa'),
        stderr: '',
      });
    });
  });

  test('database: once it may be written again, it is', async () => {
    await using owned = await ownedProject();
    await owned.without({ 'forge.db': 0o444 }, async () => {
      await owned.run('ready');
      await owned.run('task', 'create', 'x');
    });
    expect(await owned.run('task', 'create', 'Now')).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('Now'),
    });
    expect((await owned.run('task', 'list')).stdout).toContain('Now');
  });

  test('[M10] folder and files: reads work, writes are refused', async () => {
    await using owned = await ownedProject();
    const before = readStore(owned.project.path);
    await owned.without(
      { '.': 0o555, 'forge.db': 0o444, 'tasks.jsonl': 0o444, 'config.json': 0o444 },
      async () => {
        for (const args of [['ready'], ['task', 'list'], ['task', 'show', 'fg-aaaa'], ['search']])
          expect
            .soft(await owned.run(...args), args.join(' '))
            .toMatchObject({ exit: 0, stdout: expect.stringContaining('fg-aaaa'), stderr: '' });
        await owned.refuses('task', 'create', 'x');
      },
    );
    expect(readStore(owned.project.path)).toEqual(before);
    expect(await owned.run('task', 'create', 'Now')).toMatchObject({ exit: 0 });
  });

  test('[M10] a server reads there too, and refuses writes', async () => {
    await using owned = await ownedProject();
    const home = join(owned.project.home, 'served');
    mkdirSync(home);
    chmodSync(owned.project.home, 0o755);
    if (NOBODY !== undefined) lchownSync(home, NOBODY, NOBODY);
    await owned.without({ '.': 0o555, 'forge.db': 0o444, 'tasks.jsonl': 0o444 }, async () => {
      const place = { env: { FORGE_HOME: home }, uid: NOBODY };
      await using server = await startForgeServer(owned.project, ['--port', '0'], place);
      expect(await server.ask('/api/v1/tasks')).toMatchObject({ status: 200, body: [{ id: 'fg-aaaa' }] });
      const refused = await server.ask('/api/v1/tasks', { body: { title: 'x' } });
      expect(refused).toMatchObject({ status: 403, body: { code: 'read_only' } });
    });
  });

  test('folder alone', async () => {
    await using owned = await ownedProject();
    const before = readStore(owned.project.path);
    await owned.without({ '.': 0o555 }, () => owned.refuses('task', 'create', 'x'));
    expect(readStore(owned.project.path)).toEqual(before);
    expect(await owned.run('task', 'create', 'Now')).toMatchObject({ exit: 0 });
  });

  test('local replica: reads work, writes are refused', async () => {
    await using owned = await ownedProject();
    const before = readStore(owned.project.path);
    await owned.without({ 'tasks.jsonl': 0o444 }, async () => {
      expect
        .soft(await owned.run('ready'))
        .toMatchObject({ exit: 0, stdout: expect.stringContaining('fg-aaaa') });
      await owned.refuses('task', 'create', 'x');
      await owned.refuses('task', 'update', 'fg-aaaa', '--priority', '1');
    });
    expect(readStore(owned.project.path)).toEqual(before);
    expect(await owned.run('task', 'create', 'Now')).toMatchObject({ exit: 0 });
  });

  test('a store that may not even be read is told, and is there afterwards', async () => {
    await using owned = await ownedProject();
    const before = readStore(owned.project.path);
    for (const modes of [{ 'forge.db': 0 }, { '.': 0 }]) {
      await owned.without(modes, async () => {
        for (const args of [['ready'], ['task', 'create', 'x']]) {
          const { code, message, hint } = errorOf(await owned.run(...args, '--json'));
          expect.soft(code, args.join(' ')).toMatch(/^(permission_denied|io_failed)$/);
          expect
            .soft({ message, hint })
            .toEqual({ message: expect.stringContaining('forge.db'), hint: expect.any(String) });
        }
      });
    }
    expect(readStore(owned.project.path)).toEqual(before);
  });

  test('the config in .forge that may not be read', async () => {
    await using owned = await ownedProject();
    const path = join(owned.project.path, '.forge', 'config.json');
    chmodSync(path, 0);
    try {
      expect(errorOf(await owned.run('ready', '--json'))).toMatchObject({
        code: 'permission_denied',
        message: expect.stringContaining(path),
        hint: expect.any(String),
      });
    } finally {
      chmodSync(path, 0o644);
    }
  });

  test('a repository where nothing may be made: init says so and leaves nothing', async () => {
    await using owned = await ownedProject();
    const { path } = owned.project;
    rmSync(join(path, '.forge'), { recursive: true });
    rmSync(join(path, '.git', 'forge'), { recursive: true });
    chmodSync(path, 0o555);
    try {
      const before = readdirSync(path);
      expect(errorOf(await owned.run('init', '--json'))).toMatchObject({
        code: 'permission_denied',
        message: expect.stringContaining(path),
        hint: expect.any(String),
      });
      expect(readdirSync(path)).toEqual(before);
      expect(readdirSync(join(path, '.git'))).not.toContain('forge');
    } finally {
      chmodSync(path, 0o755);
    }
  });
});

interface OwnedProject extends AsyncDisposable {
  readonly project: ForgeProject;
  /** As the one who owns the store and is not root. */
  run(...args: string[]): Promise<ProgramResult>;
  /** Fails for want of permission, in both forms. */
  refuses(...args: string[]): Promise<void>;
  /** With these modes in the store's folder while the work goes on. */
  without(modes: Readonly<Record<string, number>>, work: () => Promise<void>): Promise<void>;
}

async function ownedProject(): Promise<OwnedProject> {
  const project = await forgeProjectHere();
  bringTasks(project.path, [{ id: 'fg-aaaa' }]);
  await project.text('ready');
  const store = join(project.path, '.git', 'forge');
  giveAway(project.path);
  const run: OwnedProject['run'] = (...args) =>
    new Promise((done) => {
      const options = {
        cwd: project.path,
        env: { ...project.env, FORGE_ACTOR: 'nobody' },
        ...(NOBODY !== undefined && { uid: NOBODY, gid: NOBODY }),
      };
      execFile(process.execPath, [FORGE, ...args], options, (error, stdout, stderr) =>
        done({ stdout, stderr, exit: error === null ? 0 : Number(error.code) }),
      );
    });
  // The files have other times now; once this is remembered, a read has nothing to write.
  await run('ready');
  return {
    project,
    run,
    async refuses(...args) {
      const body = errorOf(await run(...args, '--json'));
      expect.soft(body, args.join(' ')).toMatchObject({
        code: expect.stringMatching(/^(read_only|permission_denied)$/),
        message: expect.stringContaining(store),
      });
      const { stdout, stderr, exit } = await run(...args);
      expect.soft({ stdout, exit }, args.join(' ')).toEqual({ stdout: '', exit: 6 });
      expect.soft(stderr).toContain(`forge: ${body.message}\n`);
    },
    async without(modes, work) {
      for (const [name, mode] of Object.entries(modes).toReversed()) chmodSync(join(store, name), mode);
      try {
        await work();
      } finally {
        for (const name of Object.keys(modes)) chmodSync(join(store, name), name === '.' ? 0o755 : 0o644);
      }
    },
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

/** The repository itself stays ours, or git would refuse to work in it. */
function giveAway(path: string): void {
  chmodSync(dirname(path), 0o755);
  if (NOBODY === undefined) return;
  for (const folder of [join(path, '.forge'), join(path, '.git', 'forge')]) {
    lchownSync(folder, NOBODY, NOBODY);
    for (const name of readdirSync(folder)) lchownSync(join(folder, name), NOBODY, NOBODY);
  }
}

function errorOf({ stdout, stderr, exit }: ProgramResult): ErrorBody {
  expect({ stderr, ok: exit === 0 }).toEqual({ stderr: '', ok: false });
  const { error } = JSON.parse(stdout) as { error: ErrorBody };
  expect(stdout).toBe(`${JSON.stringify({ error })}\n`);
  return error;
}
