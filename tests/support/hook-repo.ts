import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findRepository } from '#git/find-repository.ts';
import type { ForgeProgram } from '#sync/forge-program.ts';
import { type ProjectPaths, toProjectPaths } from '#sync/project-paths.ts';
import { tempRepo, testGitEnv, type TempRepo } from './temp-repo.ts';

/** Everything a shell, git's configuration or git's `%` could trip over. */
const AWKWARD = `it's "50%A" $HOME \`x\` \\ 'q' #;ünïcödé`;

export interface HookRepo extends TempRepo {
  readonly paths: ProjectPaths;
  /** A stand-in for Forge that writes down how it was called. */
  readonly program: ForgeProgram;
  /** What functions about hooks are given. */
  readonly options: { paths: ProjectPaths; program: ForgeProgram; env: NodeJS.ProcessEnv };
  /** What a stand-in was called with since the last time: `hook=pre-commit args=[hook][pre-commit] stdin=0`. */
  calls(): Promise<string[]>;
  /** Git with its exit code and all it printed. */
  tryGit(args: readonly string[], options?: { cwd?: string; env?: NodeJS.ProcessEnv }): GitAnswer;
  /** With the right to run. */
  writeScript(file: string, text: string | Uint8Array): Promise<void>;
  /** An untracked file that the commit will hold, and the commit. */
  commit(file: string, message?: string): Promise<GitAnswer>;
}

export interface GitAnswer {
  readonly exit: number;
  readonly output: string;
}

/** A repository, and beside it a program in a folder with an awkward name, for git to run in the place of Forge. */
export async function hookRepo(): Promise<HookRepo> {
  const repo = await tempRepo();
  const folder = join(dirname(repo.path), AWKWARD);
  await mkdir(folder);
  const log = join(folder, 'log');
  const script = join(folder, 'forge.cjs');
  await writeFile(script, RECORDER);
  const program = { node: join(folder, 'node'), script };
  // A shell starts in a tenth of the time that Node takes.
  await writeFile(program.node, '#!/bin/sh\nexec /bin/sh "$@"\n');
  await chmod(program.node, 0o755);
  const repository = findRepository(repo.path);
  if (repository === undefined) throw new Error('no repository');
  const paths = toProjectPaths(repository);
  const tryGit: HookRepo['tryGit'] = (args, options = {}) => {
    const { status, stdout, stderr } = spawnSync('git', args, {
      cwd: options.cwd ?? repo.path,
      env: { ...testGitEnv(), ...options.env },
      encoding: 'utf8',
    });
    return { exit: status ?? 255, output: stdout + stderr };
  };
  return {
    ...repo,
    paths,
    program,
    options: { paths, program, env: testGitEnv() },
    tryGit,
    async calls() {
      const text = await readFile(log, 'utf8').catch(() => '');
      await rm(log, { force: true });
      return text.split('\n').filter((line) => line !== '');
    },
    async writeScript(file, text) {
      await mkdir(dirname(join(repo.path, file)), { recursive: true });
      await writeFile(join(repo.path, file), text);
      await chmod(join(repo.path, file), 0o755);
    },
    async commit(file, message = `add ${file}`) {
      await repo.write(file, `${message}\n`);
      repo.git('add', file);
      return tryGit(['commit', '-m', message]);
    },
  };
}

const RECORDER = `here=\${0%/*}
stdin=$(cat | wc -c | tr -d ' ')
args=
for word in "$@"; do args="$args[$word]"; done
echo "hook=$FORGE_HOOK args=$args stdin=$stdin" >>"$here/log"
exit 7
`;
