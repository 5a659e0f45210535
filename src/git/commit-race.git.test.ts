import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { inSoak } from '../../tests/support/share-of.ts';
import { testGitEnv } from '../../tests/support/temp-repo.ts';

const SCRIPT = fileURLToPath(new URL('../../tests/support/commit-worker.ts', import.meta.url));
const WORKERS = 8;
const COMMITS = 2;
/** The workers are compiled once, not at each start. */
const COMPILE_CACHE = join(tmpdir(), 'forge-test-compile-cache');

/** All loaded first, then let go at the same moment; what they print is one result a commit. */
async function race(place: GitPlace, ref: string, shared: string[] = []): Promise<{ changed: boolean }[]> {
  const said: string[] = [];
  const start = async (at: number): Promise<ChildProcess> => {
    const args = [SCRIPT, place.path, ref, `w${at}`, String(COMMITS), ...shared];
    const env = { ...testGitEnv(), NODE_COMPILE_CACHE: COMPILE_CACHE };
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
    await once(child.stdout, 'data');
    child.stdout.on('data', (text: Buffer) => said.push(text.toString()));
    return child;
  };
  const workers = await Promise.all(Array.from({ length: WORKERS }, (_, at) => start(at)));
  const ended = workers.map((worker) => once(worker, 'close'));
  for (const worker of workers) worker.stdin?.write('go\n');
  for (const [code] of await Promise.all(ended)) expect(code).toBe(0);
  return said
    .join('')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { changed: boolean });
}

const NAMES = Array.from(
  { length: WORKERS * COMMITS },
  (_, at) => `w${at % WORKERS}-${Math.floor(at / WORKERS)}`,
);

describe('eight processes that commit at once', () => {
  it('to one branch: every commit lands, none is lost', { timeout: 120_000 }, async () => {
    await using place = await gitPlace();
    const results = await race(place, 'refs/heads/forge');
    expect(results.filter(({ changed }) => changed)).toHaveLength(NAMES.length);
    expect(place.git('rev-list', '--count', 'forge')).toBe(String(NAMES.length));
    expect(place.git('ls-tree', '--name-only', 'forge:tasks').split('\n').sort()).toEqual(NAMES.toSorted());
  });

  inSoak(() => {
    it(
      'to HEAD: index and working tree are where HEAD is, also at a file that all wrote',
      { timeout: 120_000 },
      async () => {
        await using place = await gitPlace();
        await place.write('mine.txt', 'mine\n');
        place.git('add', 'mine.txt');
        const results = await race(place, 'HEAD', ['shared.txt']);
        expect(results.filter(({ changed }) => changed)).toHaveLength(NAMES.length);
        expect(place.git('ls-tree', '--name-only', 'HEAD:tasks').split('\n').sort()).toEqual(
          NAMES.toSorted(),
        );
        expect(place.git('rev-list', '--count', 'HEAD')).toBe(String(NAMES.length + 1));
        expect(place.git('status', '--porcelain')).toBe('A  mine.txt');
      },
    );
  });
});
