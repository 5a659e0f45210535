import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { askGit } from '#git/ask-git.ts';
import { findRepository } from '#git/find-repository.ts';
import { openControlDirectory } from '#git/control-directory.ts';
import { askMessageHook, askMoveHooks, findProtectiveHooks } from '#git/protective-hooks.ts';
import { pushTarget } from '#git/push-target.ts';
import { createSigner } from '#git/sign-commits.ts';

/**
 * Does one thing in a repository for which a program of the user's runs, and is killed by the test while that is at work.
 * `unguarded` starts the hook in the way that leaves it behind.
 */
const [folder = '', what = ''] = process.argv.slice(2);
const repo = findRepository(folder);
if (repo === undefined) throw new Error(`no repository in ${folder}`);
const read = async (...args: string[]): Promise<string> => (await askGit(repo, args)).stdout.trim();
const commit = await read('rev-parse', 'HEAD');
const hooks = await findProtectiveHooks(repo);

const work: Readonly<Record<string, () => unknown>> = {
  'commit-msg': () => askMessageHook(repo, hooks, 'A message\n'),
  'pre-receive': () => askMoveHooks(repo, hooks, { branch: 'main', old: commit, commit }),
  'pre-push': () => pushTarget(repo, { branch: 'main', commit }, { timeout_ms: 60_000 }),
  signature: async () => {
    const signer = createSigner(await openControlDirectory(repo), { sign: true, timeout_ms: 60_000 });
    return signer.write({ tree: await read('rev-parse', 'HEAD^{tree}'), parents: [], message: 'Signed' });
  },
  'clean filter': () => askGit(repo, ['hash-object', '--stdin', '--path=x.slow'], { input: 'x\n' }),
  'smudge filter': () => askGit(repo, ['cat-file', '--filters', '--path=x.slow', `${commit}:a.txt`]),
  unguarded: () => spawn(join(hooks.folder, 'commit-msg'), { detached: true }),
};
await work[what]?.();
