import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tempRepo, type TempRepo } from '../support/temp-repo.ts';

const FORGE = join(import.meta.dirname, '../../bin/forge.cjs');
const PRELOAD = join(import.meta.dirname, '../support/report-loaded.cjs');

/** Words that only the sources of the heavy libraries hold, also when minified. */
const HEAVY = { zod: 'invalid_union', commander: 'commander.invalidArgument', dagre: 'network-simplex' };

const CHILDREN = 'NativeModule child_process';
/** Parts of Node that take a cold command from 0.3 ms to more than 1 ms each. */
const SLOW_PARTS = ['NativeModule stream', 'NativeModule os', 'NativeModule perf_hooks'];

let repo: TempRepo;
let id: string;

beforeAll(async () => {
  repo = await tempRepo();
  run(['init']);
  id = (JSON.parse(run(['task', 'create', 'A task', '--json']).stdout) as { id: string }).id;
});
afterAll(async () => {
  await repo[Symbol.asyncDispose]();
});

describe('what a cold command loads', () => {
  it('is noticed at all: help loads commander, an error Zod, a picture dagre, the doctor starts children and loads all the slow parts of Node', () => {
    const help = run(['ready', '--help']);
    expect(help.heavy).toContain('commander');
    expect(run(['ready', '--limit', 'x']).heavy).toContain('zod');
    expect(run(['graph', '--format', 'svg']).heavy).toContain('dagre');
    const doctor = run(['doctor', '--quiet']);
    for (const one of [CHILDREN, 'NativeModule crypto', ...SLOW_PARTS])
      expect(doctor.builtins).toContain(one);
  });

  it.each([
    ['--version', () => ['--version']],
    ['ready', () => ['ready', '--json', '--limit', '20']],
    ['ready as text', () => ['ready', '--sort', 'impact']],
    ['task show', () => ['task', 'show', id, '--json']],
    ['task show as text', () => ['task', 'show', id]],
    ['task list', () => ['task', 'list', '--status', 'open']],
    ['search', () => ['search', '--query', 'task', '--json', '--fields', 'id']],
    ['task create', () => ['task', 'create', 'Another', '--priority', '1', '--json']],
    ['claim', () => ['claim', '--next', '--json']],
    ['task update', () => ['task', 'update', id, '--label-add', 'x']],
    ['task close', () => ['task', 'close', id, '--reason', 'done']],
  ])(
    '%s: no Zod, no commander, no child process, no crypto; a read loads no slow part of Node either',
    (name, argv) => {
      const { heavy, builtins, exit } = run(argv());
      expect(exit).toBe(0);
      expect(heavy).toEqual([]);
      const isRead = /^(?:--version|ready|task show|task list|search)/.test(name);
      const unwanted = [CHILDREN, 'NativeModule crypto', ...(isRead ? SLOW_PARTS : [])];
      expect(builtins.filter((one) => unwanted.includes(one))).toEqual([]);
    },
  );

  it('a read on a branch of a person asks git nothing, also where the config has other settings of work', () => {
    const path = join(repo.path, '.forge/config.json');
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, before.replace('{', '{ "review": { "step_timeout_s": 60 },'));
    const { builtins, exit } = run(['ready', '--json']);
    writeFileSync(path, before);
    expect(exit).toBe(0);
    expect(builtins).not.toContain(CHILDREN);
  });

  it('a commit waits for no Zod and no commander, and for few files', () => {
    const { heavy, files, exit } = run(['hook', 'pre-commit']);
    expect(exit).toBe(0);
    expect(heavy).toEqual([]);
    expect(files.length).toBeLessThanOrEqual(7);
  });

  it('is few files', () => {
    expect(run(['--version']).files.length).toBeLessThanOrEqual(2);
    expect(run(['ready', '--json']).files.length).toBeLessThanOrEqual(4);
    expect(run(['task', 'create', 'One more']).files.length).toBeLessThanOrEqual(5);
  });
});

interface Loaded {
  readonly stdout: string;
  readonly exit: number | null;
  readonly files: readonly string[];
  readonly builtins: readonly string[];
  readonly heavy: readonly string[];
}

function run(argv: readonly string[]): Loaded {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    FORGE_ACTOR: 'tester',
  };
  const args = ['--require', PRELOAD, FORGE, ...argv];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: repo.path,
    env,
    encoding: 'utf8',
  });
  const found = /^loaded=(.*)$/m.exec(stderr);
  if (found?.[1] === undefined) throw new Error(`no report from ${argv.join(' ')}: ${stderr}`);
  const { files, builtins } = JSON.parse(found[1]) as { files: string[]; builtins: string[] };
  const ours = files.filter((file) => file !== PRELOAD);
  const sources = ours.map((file) => readFileSync(file, 'utf8'));
  const heavy = Object.entries(HEAVY).filter(([, word]) => sources.some((source) => source.includes(word)));
  return { stdout, exit: status, files: ours, builtins, heavy: heavy.map(([name]) => name) };
}
