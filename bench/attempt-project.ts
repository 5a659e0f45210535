import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openContext } from '#app/open-context.ts';
import { FORGE, makeProject, temporaryFolder, type Folder } from './measure.ts';

/** A project with files to check out, and a home whose agents are of this measurement alone. */
export interface AttemptProject extends Disposable {
  readonly path: string;
  readonly home: string;
  readonly folder: Folder;
  readonly env: NodeJS.ProcessEnv;
  readonly git: (...args: readonly string[]) => string;
  /** Runs the built program; gives what it printed. */
  readonly forge: (...args: readonly string[]) => string;
}

/** Smaller figures for a machine that has other things to do; the budgets are meant for 1. */
const SCALE = Number(process.env['FORGE_BENCH_SCALE'] ?? '1');

export function scaled(count: number, least: number): number {
  return Math.max(least, Math.round(count * SCALE));
}

const FILES_A_FOLDER = 100;

export function makeAttemptProject(files: number, where?: 'in memory'): AttemptProject {
  const folder = temporaryFolder(where);
  const path = join(folder.path, 'project');
  const home = join(folder.path, 'home');
  mkdirSync(path);
  mkdirSync(home);
  const env = {
    ...process.env,
    HOME: home,
    FORGE_HOME: join(home, '.forge'),
    FORGE_ACTOR: 'user:Ada',
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
  };
  writeFileSync(env.GIT_CONFIG_GLOBAL, '[user]\n\tname = Ada\n\temail = bench@localhost\n');
  makeProject(path);
  writeFiles(path, files);
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: path, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  git('add', '--all');
  git('commit', '--quiet', '--no-verify', '--message', 'first');
  return {
    path,
    home,
    folder,
    env,
    git,
    forge: (...args) => runForge(args, { cwd: path, env }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** The project in this very process, and nothing told of what it does. */
export function openProject({ path, env }: AttemptProject): ReturnType<typeof openContext> {
  const quiet = (): void => undefined;
  const told = { progress: quiet, notice: quiet, meter: quiet };
  return openContext({ needs: 'project', cwd: path, env, actor: 'user:Ada', ...told });
}

function runForge(args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): string {
  const result = spawnSync(process.execPath, [FORGE, ...args], {
    ...options,
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  if (result.status === 0) return result.stdout;
  throw new Error(`forge ${args.join(' ')} exited with ${result.status}: ${result.stderr}${result.stdout}`);
}

/** Like those of a program: a few hundred lines of text, in folders. */
function writeFiles(path: string, count: number): void {
  for (let at = 0; at < count; at += 1) {
    const folder = join(path, `part-${Math.floor(at / FILES_A_FOLDER)}`);
    if (at % FILES_A_FOLDER === 0) mkdirSync(folder);
    writeFileSync(join(folder, `file-${at}.txt`), `file ${at}\n`.repeat(150));
  }
}
