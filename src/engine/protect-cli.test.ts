import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCliPlaces } from '#executors/cli-places.ts';
import type { Walls } from '#process/walls.ts';
import { tempFolder, type TempFolder } from '../../tests/support/temp-repo.ts';
import { protectCli, setPlantedAside, watchCli, type GuardedCli } from './protect-cli.ts';

let folder: TempFolder;
beforeEach(async () => {
  folder = await tempFolder();
  mkdirSync(at('work'));
});
afterEach(() => folder[Symbol.asyncDispose]());

const at = (...names: string[]): string => join(folder.path, ...names);

function write(name: string, text = ''): void {
  mkdirSync(dirname(at('home', name)), { recursive: true });
  writeFileSync(at('home', name), text);
}

const toSlug = (path: string): string => path.replace(/[^a-zA-Z0-9]/g, '-');

/** The places of a program, as they are when a run of it begins. */
function protect(executor: string): GuardedCli {
  const [cli] = findCliPlaces(executor, { home: at('home'), env: {} });
  if (cli === undefined) throw new Error(`No places of ${executor}`);
  return protectCli(cli, at('work'));
}

/** Whether the mounts let a program inside change or make the file; the last one that is nearest to it counts. */
function canChange({ writable, fixed }: GuardedCli, name: string): boolean {
  const path = at('home', name);
  const nearest = [...writable, ...fixed]
    .filter((one) => existsSync(one) && (path === one || path.startsWith(`${one}/`)))
    .toSorted((a, b) => a.length - b.length)
    .at(-1);
  return nearest !== undefined && writable.includes(nearest) && !fixed.includes(nearest);
}

function watch(executor: string): void {
  // Only that there are walls is looked at.
  const walls = {} as Walls;
  const env = { HOME: at('home') };
  watchCli({ home: at('forge') }, { run: { id: 'r' }, env, executor, cwd: at('work'), walls });
}

const settle = (): string | undefined => setPlantedAside({ home: at('forge') }, { id: 'r' });

/** What each program runs, or reads to its model, at its next start. */
const PLANTED: Readonly<Record<string, string>> = {
  claude:
    '.claude/rules/x.md .claude/workflows/x.js .claude/keybindings.json .claude/scheduled_tasks.json .claude/agent-memory/x .claude/agents/x.md .claude/projects/-home-ada-p/memory/MEMORY.md',
  codex:
    '.codex/.env .codex/managed_config.toml .codex/agents/a.toml .codex/plugins/p/x .codex/evil.config.toml .codex/memories/m.md .codex/requirements.toml .codex/AGENTS.md .codex/prompts/x.md',
  gemini:
    '.gemini/.env .gemini/agents/x.md .gemini/system.md .gemini/keybindings.json .gemini/policies/x.toml .gemini/antigravity/mcp_config.json .gemini/trusted_hooks.json .gemini/acknowledgments/agents.json .gemini/policy_integrity.json .gemini/tmp/bin/rg .gemini/tmp/p/memory/MEMORY.md',
  qwen: '.qwen/agents/x.md .qwen/skills/x/SKILL.md .qwen/hooks/x .qwen/rules/x.md .qwen/memory.md .qwen/workflows/x.js .qwen/output-language.md .qwen/projects/-home-ada-p/memory/MEMORY.md .qwen/tmp/abc/x',
  opencode:
    '.config/opencode/tools/x.ts .config/opencode/agents/x.md .config/opencode/commands/x.md .config/opencode/mode/x.md .config/opencode/modes/x.md .config/opencode/skill/x/SKILL.md .config/opencode/package.json .config/opencode/tui.json .config/opencode/.env .config/opencode/plugin/x.js .local/share/opencode/bin/rg .local/share/opencode/worktree/x',
  copilot:
    '.copilot/hooks/x.json .copilot/settings.json .copilot/lsp-config.json .copilot/extensions/x/extension.mjs .copilot/installed-plugins/x/x .copilot/copilot-instructions.md .copilot/permissions-config.json .copilot/config.json .copilot/mcp-config.json',
  goose:
    '.config/goose/permission.yaml .config/goose/custom_providers/x.json .config/goose/.goosehints .config/goose/plugins/x .config/goose/skills/x/SKILL.md .config/goose/secrets.yaml .config/goose/config.yaml .local/share/goose/schedule.json',
};

const CASES = Object.entries(PLANTED).flatMap(([executor, names]) =>
  names.split(' ').map((name) => [executor, name] as const),
);

/** What each has to write, or its sessions and logins are lost. */
const WRITTEN: Readonly<Record<string, string>> = {
  claude:
    '.claude/.credentials.json .claude/history.jsonl .claude/sessions/1.json .claude/todos/x .claude/statsig/x',
  codex:
    '.codex/auth.json .codex/sessions/2026/x.jsonl .codex/state_5.sqlite .codex/state_5.sqlite-wal .codex/logs_2.sqlite .codex/thread-writer-locks/x .codex/.sandbox_migration .codex/installation_id',
  gemini:
    '.gemini/projects.json .gemini/projects.json.lock .gemini/projects.json.1a2b.tmp .gemini/oauth_creds.json .gemini/google_accounts.json',
  qwen: '.qwen/oauth_creds.json .qwen/installation_id .qwen/usage_record.jsonl .qwen/.openai-logs-cleanup-6d58',
  opencode:
    '.local/share/opencode/auth.json .local/share/opencode/opencode.db .local/share/opencode/opencode.db-wal .local/share/opencode/log/x .local/share/opencode/storage/x .local/state/opencode/locks/x',
  copilot: '.copilot/session-state/x/events.jsonl .copilot/logs/x .copilot/settings.json.lock',
  goose: '.local/share/goose/sessions/sessions.db .local/state/goose/logs/x',
};

describe('[S2-F4] settings of the user’s programs', () => {
  it.each(CASES)('%s: %s cannot be made, or is set aside at the end', (executor, name) => {
    const guarded = protect(executor);
    if (!canChange(guarded, name)) return;
    watch(executor);
    write(name, 'EVIL');
    expect(settle()).toContain('set aside in');
    expect(existsSync(at('home', name))).toBe(false);
    expect(readdirSync(at('forge/quarantine/r'))).toHaveLength(1);
  });

  it.each(CASES)('%s: %s stays as it was where it is there before', (executor, name) => {
    write(name, 'mine');
    expect(canChange(protect(executor), name)).toBe(false);
    watch(executor);
    expect(settle()).toBeUndefined();
    expect(existsSync(at('home', name))).toBe(true);
  });

  it.each(Object.entries(WRITTEN))(
    '%s: its sessions and logins can be written, and stay',
    (executor, names) => {
      for (const name of names.split(' ')) {
        expect([name, canChange(protect(executor), name)]).toEqual([name, true]);
        watch(executor);
        write(name, 'state');
        expect(settle()).toBeUndefined();
        expect(existsSync(at('home', name))).toBe(true);
        expect([name, canChange(protect(executor), name)]).toEqual([name, true]);
      }
    },
  );

  it.each([
    ['claude', '.claude/projects'],
    ['qwen', '.qwen/projects'],
  ])('%s: of what it keeps of folders, that of the run’s own can be changed', (executor, projects) => {
    const guarded = protect(executor);
    expect(canChange(guarded, `${projects}/${toSlug(at('work'))}/memory/MEMORY.md`)).toBe(true);
    expect(canChange(guarded, `${projects}/${toSlug(at('work'))}-review-1/memory/MEMORY.md`)).toBe(false);
    // Where the program was not started, nothing of it is left.
    watch(executor);
    settle();
    expect(readdirSync(at('home', projects))).toEqual([]);
  });

  it('claude: the folder of a long path has the name that the program gives it', () => {
    const [cli] = findCliPlaces('claude', { home: at('home'), env: {} });
    const long = `/tmp/w/w13-cli-try/long/${'abcdefghi.'.repeat(12)}/${'abcdefghi.'.repeat(12)}`;
    // As version 2.1.325 made it.
    expect(cli?.projects[0]?.toName(long)).toMatch(/-abcdefghi-abcde-qjxro0$/);
    expect(cli?.projects[0]?.toName('/home/ada/my.app_2')).toBe('-home-ada-my-app-2');
  });

  it('gemini: what it keeps of another folder stays, and memory that is new there is set aside', () => {
    write('.gemini/tmp/own/.project_root', at('work'));
    write('.gemini/tmp/other/.project_root', '/home/ada/p');
    const guarded = protect('gemini');
    expect(canChange(guarded, '.gemini/tmp/own/memory/MEMORY.md')).toBe(true);
    expect(canChange(guarded, '.gemini/tmp/other/memory/MEMORY.md')).toBe(false);
    watch('gemini');
    write('.gemini/tmp/own/memory/MEMORY.md');
    write('.gemini/tmp/new/.project_root', '/home/ada/q');
    write('.gemini/tmp/new/memory/MEMORY.md');
    expect(settle()).toContain('.gemini/tmp/new/memory');
    expect(existsSync(at('home/.gemini/tmp/new/memory'))).toBe(false);
    expect(existsSync(at('home/.gemini/tmp/own/memory/MEMORY.md'))).toBe(true);
  });

  it('opencode: a login that brings settings along is set aside, and one of the user’s cannot be changed', () => {
    const file = '.local/share/opencode/auth.json';
    const logins = { a: { type: 'api', key: 'k' } };
    write(file, JSON.stringify(logins));
    expect(canChange(protect('opencode'), file)).toBe(true);
    watch('opencode');
    const evil = { ...logins, 'https://evil.example': { type: 'wellknown', key: 'BASH_ENV', token: '/x' } };
    write(file, JSON.stringify(evil));
    expect(canChange(protect('opencode'), file)).toBe(false);
    expect(settle()).toContain(file);
    expect(existsSync(at('home', file))).toBe(false);
  });

  it('where a setting is a link, only what the program has to write is open', () => {
    write('dotfiles/x');
    write('.codex/auth.json');
    symlinkSync(at('home/dotfiles/x'), at('home/.codex/AGENTS.md'));
    const guarded = protect('codex');
    expect(guarded.writable).toEqual([at('home/.codex/auth.json')]);
    // A mount on what a link leads to could show what is hidden.
    expect(guarded.fixed).not.toContain(at('home/.codex/AGENTS.md'));
  });
});
