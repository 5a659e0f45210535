import { once } from 'node:events';
import { commitFiles } from '#git/commit-files.ts';
import { findRepository } from '#git/find-repository.ts';

/**
 * Commits `count` times to `ref` as soon as it is told to: each time a file of its own, and with `shared` one that
 * all workers write.
 */
const [folder = '', ref = '', name = '', count = '', shared] = process.argv.slice(2);
const repo = findRepository(folder);
if (repo === undefined) throw new Error(`no repository in ${folder}`);
process.stdout.write('ready\n');
await once(process.stdin, 'data');
for (let at = 0; at < Number(count); at += 1) {
  const files = new Map([[`tasks/${name}-${at}`, Buffer.from(`${name} ${at}\n`)]]);
  if (shared !== undefined) files.set(shared, Buffer.from(`${name} ${at}\n`));
  const result = await commitFiles({ repo, files, message: `${name} ${at}`, ref });
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
process.stdin.destroy();
