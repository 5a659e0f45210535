import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTrust } from '#sync/trust.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { openWorkspace } from './attempt-workspace.ts';
import { checkMergeable } from './merge-gate.ts';
import { setUpForChecks } from './set-up-folder.ts';
import { systemWriter, type WorkPlace } from './work.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** As it is where no command is the person's own. */
function withoutTrust(): WorkPlace {
  const { place } = shop;
  const paths = { root: place.project.root, common_dir: place.repo.common_dir };
  return { ...place, trust: openTrust({ home: place.home, paths, owns: () => false }) };
}

describe('a task is not merged', () => {
  it('while it has several attempts, and the refusal counts them', async () => {
    const task = await shop.create('Several');
    const { attempt } = await openWorkspace(shop.place, { task, agent: 'w1' });
    const { base_commit } = attempt;
    for (const name of ['second', 'third']) {
      const place = { name, path: `/none/${name}`, target: 'main', port: null, agent: 'w1' };
      const made = { id: crypto.randomUUID(), task_id: task.id, base_commit, ...place };
      await shop.place.store.startAttempt(made, systemWriter(shop.place));
    }
    await expect(checkMergeable(shop.place, task)).rejects.toMatchObject({
      code: 'state_invalid',
      message: `${task.id} has 3 unfinished attempts`,
    });
  });

  it('while a person has not allowed its checks, which are named before it moves', async () => {
    const task = await shop.create('Untrusted', { steps: ['true'] });
    await openWorkspace(shop.place, { task, agent: 'w1' });
    await expect(checkMergeable(withoutTrust(), task)).rejects.toMatchObject({
      code: 'untrusted',
      details: { commands: ['true'] },
    });
  });
});

it('a set-up that nobody has allowed is told as its first command', async () => {
  const task = await shop.create('Set up');
  const { attempt } = await openWorkspace(shop.place, { task, agent: 'w1' });
  shop.set({ workspace: { setup: ['echo first', 'echo second'] } });
  expect(await setUpForChecks(withoutTrust(), attempt)).toMatchObject({
    command: 'echo first',
    outcome: 'start_failed',
  });
});

describe('[S4] a key in the name of an agent that was added before such names were refused', () => {
  it('is in no commit', async () => {
    const key = `ghp_${'c3D4'.repeat(9)}`;
    shop.addAgent(key, 'echo named > named.txt');
    const task = await shop.create('Named', { steps: ['true'] });
    expect((await shop.work(task, key)).state).toBe('review');
    expect((await shop.move(task, 'merging')).state).toBe('done');
    shop.removeAgent(key);
    const said = shop.repo.git('log', '--all', '--format=%an %cn %B');
    expect(said).toContain('Forge-Agent: [redacted]');
    expect(said).not.toContain(key);
  });
});

describe.each(shareOf(['merge', 'squash', 'rebase'] as const, 3))(
  '[S4] a key in the title, with the strategy %s',
  (strategy) => {
    it('is in no commit and in no name of a branch', async () => {
      shop.set({ merge: { strategy } });
      shop.addAgent('w1', 'echo hello > hello.txt', { env: { GIVEN: 'given-to-the-agent' } });
      const key = `ghp_${'a1B2'.repeat(9)}`;
      const task = await shop.create(`given-to-the-agent and ${key}`, { steps: ['true'] });
      expect((await shop.work(task, 'w1')).state).toBe('review');
      expect((await shop.move(task, 'merging')).state).toBe('done');
      const [{ branch } = { branch: '' }] = await shop.place.store.listAttempts({ task_id: task.id });
      const said = `${shop.repo.git('log', '--all', '--format=%B')}${shop.repo.git('for-each-ref')}${branch}`;
      expect(said).toContain('[redacted] and [redacted]');
      expect(branch).toContain('redacted');
      for (const secret of [key, key.slice(0, 8), 'ghp-', 'given-to-the']) expect(said).not.toContain(secret);
    });
  },
);
