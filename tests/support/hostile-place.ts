import { spawn } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { dirname, join } from 'node:path';
import { forgeProject, type ForgeProject } from './forge-cli.ts';
import {
  ALONE,
  countPackets,
  COUNTING,
  makeMarks,
  takeMarks,
  WHY_NOT_ALONE,
  toMark,
  toTreasure,
} from './hostile-marks.ts';
import type { Canary, HostileFile, HostileRepository } from './hostile-repository.ts';
import type { SweepPlan, SweptVerb } from './hostile-sweep.ts';
import { runTestGit } from './temp-repo.ts';

export interface HostilePlace extends AsyncDisposable {
  readonly canary: Canary;
  /** All verbs, or those of some operations, one after the other. */
  sweep(only?: readonly string[]): Promise<SweptVerb[]>;
  /** A line of a shell in the clone; the marks that it left. */
  shell(line: string): Promise<string[]>;
}

/** What these say is used; the others fail, so that nobody waits for them. */
const FILTERS: ReadonlySet<string> = new Set(['clean', 'smudge', 'pager', 'textconv']);
const TASKS = ['fg-a3f8', 'fg-b2c1', 'fg-c9d1', 'fg-d4e5', 'fg-e5a2'];

/** A clone of the repository, as a person has it who has not looked at it yet. */
export async function hostilePlace(hostile: HostileRepository): Promise<HostilePlace> {
  const project = await forgeProject();
  const outside = dirname(project.path);
  makeMarks(outside);
  const path = join(outside, 'clone');
  const canary = createCanary(outside, path);
  await fillUpstream(project, hostile, canary);
  runTestGit(outside, ['clone', '-q', project.path, path]);
  appendFileSync(
    join(path, '.git', 'config'),
    `[user]\n\tname = Ada\n\temail = ada@example.com\n${hostile.settings?.(canary) ?? ''}`,
  );
  for (const [name, file] of Object.entries(hostile.inside?.(canary) ?? {}))
    lay(join(path, '.git', name), file);
  const alone = WHY_NOT_ALONE === undefined ? ALONE : [];
  const shell = async (line: string): Promise<string[]> => {
    const [program, ...args] = [...alone, 'sh', '-c', COUNTING, 'sh', line];
    const { stdout } = await project.exec(program, args, { cwd: path, stdin: '' });
    return [...takeMarks(outside), ...(alone.length > 0 && countPackets(stdout) > 0 ? ['packets'] : [])];
  };
  if (hostile.prepare !== undefined) await project.exec('sh', ['-c', hostile.prepare(canary)], { cwd: path });
  takeMarks(outside);
  return {
    canary,
    sweep: (only) => sweep(project, { cwd: path, outside, alone: alone.length > 0, ...(only && { only }) }),
    shell,
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

function createCanary(outside: string, path: string): Canary {
  return {
    run: (name) => `touch ${toMark(outside, name)}`,
    program: (name) => {
      const file = join(outside, 'programs', name);
      const rest = FILTERS.has(name) ? 'cat' : 'exit 1';
      lay(file, { text: `#!/bin/sh\ntouch ${toMark(outside, name)}\n${rest}\n`, mode: 0o755 });
      return file;
    },
    treasure: toTreasure(outside),
    path,
  };
}

async function fillUpstream(
  project: ForgeProject,
  hostile: HostileRepository,
  canary: Canary,
): Promise<void> {
  const config = JSON.parse(await project.read('.forge/config.json')) as object;
  const lines = TASKS.map((id) =>
    JSON.stringify({
      id,
      title: `Task ${id}`,
      status: 'open',
      type: 'task',
      priority: 1,
      created_at: '2026-01-01T00:00:00.000Z',
      created_by: 'mallory',
      updated_at: '2026-01-01T00:00:00.000Z',
      ...hostile.task?.(canary),
    }),
  );
  const files: Record<string, HostileFile> = {
    'README.md': 'An innocent project\n',
    'src/main.c': 'int main(void) { return 0; }\n',
    '.forge/config.json': JSON.stringify({ ...config, ...hostile.config?.(canary) }),
    '.forge/tasks.jsonl': lines.map((line) => `${line}\n`).join(''),
    ...hostile.files?.(canary),
  };
  for (const [name, file] of Object.entries(files)) lay(join(project.path, name), file);
  const identity = ['-c', 'user.name=Mallory', '-c', 'user.email=mallory@example.com'];
  project.git('add', '-fA', '--', '.', ':!.forge/forge.db');
  project.git(...identity, '-c', 'core.hooksPath=/dev/null', 'commit', '-qm', 'Innocent');
}

function lay(path: string, file: HostileFile): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  if (typeof file === 'object' && 'link' in file) return symlinkSync(file.link, path);
  const { text, mode } = typeof file === 'string' ? { text: file, mode: 0o644 } : file;
  writeFileSync(path, text);
  chmodSync(path, mode);
}

async function sweep(project: ForgeProject, plan: Omit<SweepPlan, 'env'>): Promise<SweptVerb[]> {
  const env = Object.fromEntries(
    Object.entries(project.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const file = join(plan.outside, 'plan.json');
  writeFileSync(file, JSON.stringify({ ...plan, env } satisfies SweepPlan));
  const script = join(import.meta.dirname, 'hostile-sweep.ts');
  const [program, ...args] = [...(plan.alone ? ALONE : []), process.execPath, script, file];
  const child = spawn(program, args, { cwd: plan.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const swept: SweptVerb[] = [];
  // Each line is written by the sweep.
  for await (const line of createInterface({ input: child.stdout })) {
    swept.push(JSON.parse(line) as SweptVerb);
  }
  if (stderr !== '') throw new Error(`the sweep said: ${stderr}`);
  return swept;
}
