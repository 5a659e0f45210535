import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { GitPlace } from './git-places.ts';
import { testGitEnv } from './temp-repo.ts';

/** A real git of the user's that stands still in the middle of its work until it is told to go on. */
export interface PausedGit {
  goOn(): void;
  readonly ended: Promise<{ readonly exit: number; readonly stderr: string }>;
}

/** The three ways to stop a git: in its editor, after it wrote the index, or while it compares a file. */
export type Pause = 'editor' | 'index written' | 'file compared';

/**
 * Runs git in the place, and comes back when it stands still. `slow.txt` must be there for `file compared`; `index
 * written by` a command that git starts itself is a pause in that one.
 */
export async function pauseGit(
  place: GitPlace,
  pause: Pause | `index written by ${string}`,
  ...args: string[]
): Promise<PausedGit> {
  const [, by = args[0]] = /^index written by (.+)$/.exec(pause) ?? [];
  const at = pause.startsWith('index written') ? 'index written' : pause;
  const folder = join(place.path, '..', 'pause');
  mkdirSync(join(folder, 'hooks'), { recursive: true });
  const reached = join(folder, 'reached');
  const goes = join(folder, 'goes');
  // It reads from a pipe, which costs no processor time. Both ends are open here, so that neither side waits.
  execFileSync('env', ['mkfifo', goes]);
  const pipe = openSync(goes, 'r+');
  const wait = `touch '${reached}'; read -r _ < '${goes}'`;
  const script = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const editor = script('editor', `${wait}; echo 'by the editor' > "$1"`);
  // Only once: the same git may write the index again.
  const isMeant = `tr '\\0' ' ' < /proc/$PPID/cmdline | grep -q ' ${by}'`;
  script('hooks/post-index-change', `[ -e '${reached}' ] || if ${isMeant}; then ${wait}; fi`);
  const clean = script('clean', `[ -e '${reached}' ] || { ${wait}; }; cat`);
  const settings =
    at === 'editor'
      ? [`core.editor='${editor}'`]
      : at === 'index written'
        ? [`core.hooksPath=${join(folder, 'hooks')}`]
        : [`filter.slow.clean='${clean}'`];
  const child = spawn('git', [...settings.flatMap((setting) => ['-c', setting]), ...args], {
    cwd: place.path,
    env: testGitEnv(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = waitFor(child);
  const result = await Promise.race([ended, until(() => existsSync(reached))]);
  if (result !== undefined) throw new Error(`git did not stand still: ${result.exit} ${result.stderr}`);
  let hasEnded = false;
  return {
    goOn() {
      if (!hasEnded) writeSync(pipe, '\n');
    },
    ended: ended.finally(() => {
      hasEnded = true;
      closeSync(pipe);
    }),
  };
}

async function waitFor(child: ChildProcess): Promise<{ exit: number; stderr: string }> {
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { exit: code ?? 128, stderr };
}

async function until(isSo: () => boolean): Promise<undefined> {
  while (!isSo()) await setTimeout(5);
  return undefined;
}
