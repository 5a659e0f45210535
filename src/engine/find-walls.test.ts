import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecutorProfile } from '#executors/executor.ts';
import type { Walls } from '#process/walls.ts';
import { readPersonalSettings } from '#sync/work-settings.ts';
import { tempFolder, type TempFolder } from '../../tests/support/temp-repo.ts';
import { findWalls, type WalledWork } from './find-walls.ts';
import { setPlantedAside, watchCli } from './protect-cli.ts';
import type { WorkPlace } from './work.ts';

let folder: TempFolder;
beforeEach(async () => {
  folder = await tempFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const at = (...names: string[]): string => join(folder.path, ...names);

/** Files of the person's home, with an empty text each. */
function write(...names: string[]): void {
  for (const name of names) {
    mkdirSync(dirname(at('home', name)), { recursive: true });
    writeFileSync(at('home', name), '');
  }
}

async function find(
  { executor, ...more }: Partial<ExecutorProfile> & { readonly executor?: string } = {},
  work: Partial<WalledWork> = {},
  walls: object = {},
): Promise<Walls | undefined> {
  mkdirSync(at('forge'), { recursive: true });
  writeFileSync(at('forge/settings.json'), JSON.stringify({ walls }));
  // Only what is looked at.
  const place = {
    home: at('forge'),
    root: at('roots/demo-1'),
    records: at('repo/.git/forge/attempts'),
    project: { root: at('repo') },
    repo: { common_dir: at('repo/.git') },
    settings: () => readPersonalSettings(at('forge')),
    processes: async () => ({ bubblewrap: async () => '/usr/bin/bwrap' }),
  } as unknown as WorkPlace;
  const profile = executor === undefined ? {} : { profile: { executor, ...more } as ExecutorProfile };
  return findWalls(place, { cwd: at('work'), env: { HOME: at('home') }, ...profile, ...work });
}

/** Of the paths those in the person's home, from there. */
const inHome = (paths: readonly string[] = []): string[] =>
  paths.flatMap((path) => (path.startsWith(at('home/')) ? [path.slice(at('home/').length)] : []));

/** Of each program: what it may change, what in that is the run's own, what stays of it, and what it can only read. */
const PROGRAMS: Readonly<
  Record<string, readonly [folders: string, own: string, fixed: string, read?: string]>
> = {
  claude: [
    '.claude .claude/projects/WORK',
    '.claude/backups .claude/ide .claude/session-env .claude/shell-snapshots',
    '.claude.json .claude/.claude.json .claude/CLAUDE.md .claude/agents .claude/commands .claude/plugins .claude/projects .claude/settings.json .claude/skills',
    '.claude.json',
  ],
  codex: [
    '.codex',
    '.codex/.tmp .codex/cache .codex/rules .codex/shell_snapshots .codex/tmp',
    '.codex/AGENTS.md .codex/AGENTS.override.md .codex/bin .codex/config.toml .codex/hooks .codex/hooks.json .codex/packages .codex/prompts .codex/skills',
  ],
  gemini: [
    '.gemini .gemini/tmp',
    '.gemini/history',
    '.gemini/.env .gemini/GEMINI.md .gemini/agents .gemini/bin .gemini/commands .gemini/extensions .gemini/hooks .gemini/policies .gemini/settings.json .gemini/skills .gemini/tmp/bin .gemini/trustedFolders.json',
  ],
  qwen: [
    '.qwen .qwen/projects/WORK .qwen/tmp/HASH',
    '.qwen/extension-store .qwen/history .qwen/ide',
    '.qwen/.env .qwen/QWEN.md .qwen/agents .qwen/bin .qwen/commands .qwen/extensions .qwen/hooks .qwen/output-language.md .qwen/policies .qwen/projects .qwen/settings.json .qwen/skills .qwen/tmp .qwen/trustedFolders.json',
  ],
  opencode: [
    '.local/share/opencode .local/state/opencode',
    '.local/share/opencode/repos .local/share/opencode/snapshot',
    '.config/opencode .config/opencode/.gitignore',
    '.config/opencode',
  ],
  copilot: [
    '.copilot',
    '',
    '.copilot/agents .copilot/config.json .copilot/extensions .copilot/hooks .copilot/installed-plugins .copilot/mcp-config.json .copilot/pkg .copilot/settings.json .copilot/skills',
  ],
  goose: [
    '.local/share/goose .local/state/goose',
    '',
    '.config/goose .config/goose/config.yaml',
    '.config/goose',
  ],
};

/** Names that tell of the folder of the work. */
const fill = (names = ''): string[] =>
  names
    .replaceAll('WORK', at('work').replace(/[^a-zA-Z0-9]/g, '-'))
    .replaceAll('HASH', createHash('sha256').update(at('work')).digest('hex'))
    .split(' ')
    .filter((name) => name !== '');

const READ_CACHES = ['ms-playwright', 'puppeteer', 'Cypress', 'huggingface', 'node'].map(
  (name) => `.cache/${name}`,
);

describe('the walls around a program', () => {
  it.each(Object.entries(PROGRAMS))(
    '%s: what it starts with stays, its sessions do not',
    async (executor, own) => {
      const [folders = [], apart, fixed, read = []] = own.map(fill);
      const walls = await find({ executor });
      expect(inHome(walls?.writable).toSorted()).toEqual(folders);
      expect(inHome(walls?.own).toSorted()).toEqual(apart);
      const stays = inHome(walls?.fixed).filter((path) => !READ_CACHES.includes(path));
      expect([...new Set(stays)].toSorted()).toEqual(fixed);
      // The folders of all other programs are empty, and its own are not.
      const others = Object.entries(PROGRAMS).filter(([name]) => name !== executor);
      const hidden = inHome(walls?.hidden);
      const ofOthers = others.flatMap(([, [names, , , only]]) => fill(`${names} ${only ?? ''}`));
      expect(hidden).toEqual(
        expect.arrayContaining(ofOthers.filter((path) => !/WORK|HASH|projects|tmp\/[0-9a-f]/.test(path))),
      );
      expect(hidden.filter((path) => [...folders, ...read].includes(path))).toEqual([]);
    },
  );

  it.each(['shell', 'acp'])(
    '[S-C3] %s: any program that the person has may be behind it, and each is kept as if it were the one',
    async (executor) => {
      write('.claude/local/claude', '.config/opencode/opencode.json');
      const walls = await find({ executor });
      const [claude, , keptOfClaude] = PROGRAMS['claude'] ?? [];
      const [opencode, , keptOfOpencode] = PROGRAMS['opencode'] ?? [];
      expect(inHome(walls?.writable).toSorted()).toEqual(fill(`${claude} ${opencode}`).toSorted());
      const fixed = inHome(walls?.fixed);
      expect(fixed).toEqual(expect.arrayContaining(`${keptOfClaude} ${keptOfOpencode}`.split(' ')));
      expect(fixed).toContain('.claude/local');
      expect(readFileSync(at('home/.claude/settings.json'), 'utf8')).toBe('{}\n');
      // Of one that the person does not have nothing is made, and nothing can be.
      expect(existsSync(at('home/.codex'))).toBe(false);
      expect(inHome(walls?.hidden)).toContain('.codex');
    },
  );

  it('[S-H6] a setting that is a link could be replaced, so only what the program has to write is open', async () => {
    write('dotfiles/settings.json', '.claude/projects/x', '.claude/.credentials.json');
    symlinkSync(at('home/dotfiles/settings.json'), at('home/.claude/settings.json'));
    const walls = await find({ executor: 'claude' });
    expect(inHome(walls?.writable).toSorted()).toEqual(
      fill('.claude/.credentials.json .claude/projects/WORK'),
    );
  });

  it('what a run makes anew of settings is set aside, and what was there before stays', async () => {
    write('.claude/hooks/x');
    const walls = await find({ executor: 'claude' });
    const place = { home: at('forge') };
    const run = { id: 'r' };
    const env = { HOME: at('home'), API_KEY: 'secret' };
    watchCli(place, { run, env, executor: 'claude', cwd: at('work'), walls });
    expect(readFileSync(at('forge/quarantine/r.json'), 'utf8')).not.toContain('secret');
    write('.claude/.config.json', '.claude/projects/y', '.claude/hooks/y');
    expect(setPlantedAside(place, run)).toContain('.claude/.config.json');
    expect(existsSync(at('home/.claude/.config.json'))).toBe(false);
    expect(existsSync(at('forge/quarantine/r/.claude-.config.json'))).toBe(true);
    expect(existsSync(at('home/.claude/projects/y'))).toBe(true);
    expect(setPlantedAside(place, run)).toBeUndefined();
    expect(existsSync(at('forge/quarantine/r.json'))).toBe(false);
  });

  it('where there are no walls nothing is set aside', () => {
    const env = { HOME: at('home') };
    const run = { run: { id: 'r' }, env, executor: 'claude', cwd: at('work'), walls: undefined };
    watchCli({ home: at('forge') }, run);
    write('.claude/.config.json');
    expect(setPlantedAside({ home: at('forge') }, run.run)).toBeUndefined();
    expect(existsSync(at('home/.claude/.config.json'))).toBe(true);
  });

  it.each([
    ['codex', '.codex/config.toml', ''],
    ['gemini', '.gemini/settings.json', '{}\n'],
    ['gemini', '.gemini/trustedFolders.json', '{}\n'],
    ['goose', '.config/goose/config.yaml', '{}\n'],
  ])('%s: no agent can make %s, as it is there', async (executor, file, text) => {
    await find({ executor });
    expect(readFileSync(at('home', file), 'utf8')).toBe(text);
  });

  it('claude: what is missing is made, and what is there stays but for what it has to write', async () => {
    const kept = ['.claude/hooks/x', '.claude/statusline.sh', '.claude/settings.local.json'];
    write('.claude/.credentials.json', '.claude/projects/x', '.claude/history.jsonl', ...kept);
    const walls = await find({ executor: 'claude' });
    expect(inHome(walls?.fixed)).toEqual(
      expect.arrayContaining(['.claude/hooks', '.claude/statusline.sh', '.claude/settings.local.json']),
    );
    const written = ['.claude/.credentials.json', '.claude/history.jsonl', '.claude/ide'];
    expect(inHome(walls?.fixed).filter((path) => written.includes(path))).toEqual([]);
    expect(readFileSync(at('home/.claude/settings.json'), 'utf8')).toBe('{}\n');
    for (const name of ['agents', 'commands', 'plugins', 'skills', 'ide'])
      expect(existsSync(at('home/.claude', name))).toBe(true);
    // What the person has is not written over.
    writeFileSync(at('home/.claude/settings.json'), '{"a":1}');
    await find({ executor: 'claude' });
    expect(readFileSync(at('home/.claude/settings.json'), 'utf8')).toBe('{"a":1}');
  });

  it.each([
    ['claude', 'CLAUDE_CONFIG_DIR', 'moved', 'moved/settings.json'],
    ['codex', 'CODEX_HOME', 'moved', 'moved/config.toml'],
    ['gemini', 'GEMINI_CLI_HOME', 'moved/.gemini', 'moved/.gemini/settings.json'],
    ['opencode', 'XDG_DATA_HOME', 'moved/opencode', 'home/.config/opencode'],
    ['qwen', 'QWEN_HOME', 'moved', 'moved/settings.json'],
    ['copilot', 'COPILOT_HOME', 'moved', 'moved/hooks'],
  ])('%s: its folder is where %s says', async (executor, variable, moved, settings) => {
    const env = { HOME: at('home'), [variable]: at('moved') };
    const walls = await find({ executor }, { env });
    expect(walls?.writable).toContain(at(moved));
    expect(walls?.fixed).toContain(at(settings));
    // A check sees nothing of it.
    expect((await find({}, { env }))?.hidden).toContain(at(moved));
  });

  it('a check may change nothing of any program', async () => {
    const walls = await find();
    expect(walls).toMatchObject({ writable: [], own: [] });
    expect(inHome(walls?.fixed)).toEqual(READ_CACHES);
  });

  it('what is Forge’s is sealed, and the socket and files of the command are let in', async () => {
    write('trajectory.json');
    const command = ['agent', at('home/trajectory.json'), at('home'), at('home/none'), 'trajectory.json'];
    const walls = await find(
      { executor: 'script', command },
      { socket: at('forge/run/s/sock'), read_only: true },
    );
    expect(walls).toMatchObject({
      work: { path: at('work'), read_only: true },
      sealed: [at('forge'), at('roots/demo-1'), at('repo/.git/forge/attempts')],
      let_in: [at('forge/run/s'), at('home/trajectory.json')],
      readable: [at('repo'), at('repo/.git')],
    });
    expect(await find()).toMatchObject({ work: { read_only: false }, let_in: [] });
  });

  it('keys and logins of the person are hidden, and the settings add to them and take out', async () => {
    const keys =
      '.ssh .gnupg .password-store .local/share/keyrings .aws .azure .kube .docker .oci .terraform.d .vault-token ' +
      '.config/gcloud .config/gh .config/glab-cli .config/hub .config/op .config/rclone .config/sops ' +
      '.config/chromium .config/google-chrome .mozilla .cargo/credentials.toml .git-credentials .netrc .pgpass .pypirc .Xauthority ' +
      '.dockercfg .huggingface .cache/huggingface/token .pulumi/credentials.json .databrickscfg .cloudflared .supabase .authinfo ' +
      '.vault_pass .config/fly.yml .kaggle .snowflake .railway .doppler .smbcredentials .msmtprc';
    expect(inHome((await find())?.hidden)).toEqual(expect.arrayContaining(keys.split(' ')));
    const named = await find(
      { executor: 'claude' },
      {},
      { hidden: ['~/keys', '/srv/keys'], writable: ['~/out'] },
    );
    expect(named?.hidden).toEqual(expect.arrayContaining([at('home/keys'), '/srv/keys', at('home/.codex')]));
    expect(named?.hidden).toContain(at('home/.ssh'));
    const shown = await find({}, {}, { shown: ['~/.ssh'], writable: ['~/.aws'] });
    expect(inHome(shown?.hidden)).not.toContain('.ssh');
    expect(inHome(shown?.hidden)).not.toContain('.aws');
    expect(inHome(shown?.hidden)).toContain('.gnupg');
    expect(named?.writable).toContain(at('home/out'));
  });

  it.each([
    [undefined, 'agents'],
    ['gate-1', 'gate-1'],
  ] as const)('caches are the project’s own, %s: those of %s', async (caches, whose) => {
    write('.cargo/registry/x', 'go/pkg/x', '.m2/repository/x', '.gradle/caches/x', '.local/share/pnpm/x');
    const walls = await find({}, { caches, env: { HOME: at('home'), XDG_CACHE_HOME: at('xdg') } });
    const names = [
      '.cache',
      '.npm',
      '.local/share/pnpm',
      '.cargo/registry',
      'go/pkg',
      '.m2/repository',
      '.gradle/caches',
    ];
    expect(walls?.replaced).toEqual([
      ...names.map((name) => ({ path: at('home', name), by: at('forge/caches/demo-1', whose, name) })),
      { path: at('xdg'), by: at('forge/caches/demo-1', whose, 'xdg-cache') },
    ]);
    expect(walls?.replaced.every(({ path, by }) => existsSync(path) && existsSync(by))).toBe(true);
  });

  it.each([
    [{ agents: 'off' }, undefined, [false, true]],
    [{ checks: 'off' }, undefined, [true, false]],
    [{ agents: 'off' }, 'on', [true, true]],
    [{}, 'off', [false, true]],
  ] as const)(
    'are there by the settings %j and a profile that says %s: agent and check',
    async (set, own, has) => {
      const agent = await find({ executor: 'codex', ...(own !== undefined && { walls: own }) }, {}, set);
      const check = await find({}, {}, set);
      expect([agent !== undefined, check !== undefined]).toEqual(has);
    },
  );
});
