import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AttemptPlace, attemptPlace, gitIn } from '../../tests/support/attempt-places.ts';
import { runTestGit, tempRepo } from '../../tests/support/temp-repo.ts';
import type { Checkout } from '#git/checkout-record.ts';
import { findProject } from './find-project.ts';

const HOME = join('/', 'nobody', 'at', 'home');
const CONFIG = JSON.stringify({
  name: 'victim',
  idPrefix: 'fg',
  version: 1,
  created_at: '2026-02-18T00:00:00.000Z',
});
const find = (path: string) => findProject(path, {}, HOME);
const REFUSED = expect.objectContaining({
  code: 'not_a_project',
  details: expect.objectContaining({ attempt: expect.any(String) as string }),
});

let attempts: AttemptPlace;
let checkout: Checkout;
beforeAll(async () => {
  attempts = await attemptPlace();
  mkdirSync(join(attempts.place.path, '.forge'));
  writeFileSync(join(attempts.place.path, '.forge', 'config.json'), CONFIG);
  checkout = await attempts.start();
});
afterAll(() => attempts[Symbol.asyncDispose]());

describe('the project of an attempt', () => {
  it('is found from any folder of the checkout, and is that of the repository', () => {
    mkdirSync(join(checkout.path, 'deep', 'er'), { recursive: true });
    for (const path of [checkout.path, join(checkout.path, 'deep', 'er')]) {
      const { paths, config } = find(path);
      expect([config.name, paths.root]).toEqual(['victim', attempts.place.path]);
      expect(paths.common_dir).toBe(join(attempts.place.path, '.git'));
    }
  });

  it('is found however git itself writes the configuration', async () => {
    const other = await attempts.start();
    gitIn(other, 'config', 'core.bare', 'false');
    gitIn(other, 'config', 'user.name', 'Somebody');
    expect(readFileSync(join(other.path, '.git', 'config'), 'utf8')).toContain('\tbare = false\n');
    expect(find(other.path).paths.root).toBe(attempts.place.path);
  });

  it('is not that of whoever only says so', async () => {
    await using hostile = await tempRepo();
    // A project of its own, which must not be found either: its attempts would be somebody else's.
    mkdirSync(join(hostile.path, '.forge'));
    writeFileSync(join(hostile.path, '.forge', 'config.json'), CONFIG.replace('victim', 'hostile'));
    expect(find(hostile.path).config.name).toBe('hostile');
    for (const id of [checkout.attempt_id, 'none', '../../attempts/x', '', 'a'.repeat(200)]) {
      runTestGit(hostile.path, ['config', 'forge.project', attempts.place.path]);
      runTestGit(hostile.path, ['config', 'forge.attempt', id]);
      expect(() => find(hostile.path)).toThrow(REFUSED);
    }
    expect(existsSync(join(hostile.path, '.git', 'forge'))).toBe(false);
    runTestGit(hostile.path, ['config', '--remove-section', 'forge']);
    expect(find(hostile.path).config.name).toBe('hostile');
  });

  it('is not that of a copy, of a link, or of another folder at the place', async () => {
    const moved = await attempts.start();
    const copy = `${moved.path}-copy`;
    cpSync(moved.path, copy, { recursive: true });
    expect(() => find(copy)).toThrow(REFUSED);
    const link = `${moved.path}-link`;
    symlinkSync(moved.path, link);
    expect(find(link).paths.root, 'a link to the very folder').toBe(attempts.place.path);
    renameSync(moved.path, `${moved.path}-aside`);
    renameSync(copy, moved.path);
    expect(() => find(moved.path)).toThrow(REFUSED);
    expect(() => find(`${moved.path}-aside`)).toThrow(REFUSED);
  });

  it('is no other attempt, and nothing where the project is gone', async () => {
    const other = await attempts.start();
    gitIn(other, 'config', 'forge.project', checkout.path);
    expect(() => find(other.path)).toThrow(REFUSED);
    gitIn(other, 'config', 'forge.project', '/nowhere/at/all');
    expect(() => find(other.path)).toThrow(REFUSED);
  });
});
