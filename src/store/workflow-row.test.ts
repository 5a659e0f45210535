import { expect, it } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, create } from './behaviour/open-behaviour.ts';
import { openStore } from './open-store.ts';

const WORKFLOW = {
  ...DEFAULT_WORKFLOW,
  status_states: { in_progress: 'planning' },
};

const openSecond = ({ folder, clock, hold }: TempStore, lock: 'block' | 'await') =>
  openStore({ folder }, { clock, hold, lock });

it.each(['block', 'await'] as const)(
  'a process that is open already decides and shows by what another one wrote: %s',
  async (lock) => {
    await using temp = await tempStore();
    await using second = await openSecond(temp, lock);
    const { id } = await create(temp, 'Claimed by the second');
    await temp.store.setWorkflow({ definition: WORKFLOW, digest: 'a' }, by(temp));
    // It did not look: the transaction itself does.
    const claimed = await second.claimTask(
      { id, assignee: 'bot', force: false, agents: NO_AGENTS },
      by(temp, 'bot'),
    );
    expect(claimed).toMatchObject({ outcome: 'claimed', task: { state: 'planning' } });
    expect(await second.readKeptWorkflow()).toMatchObject({ version: 1, digest: 'a' });
    expect(await second.getTask(id)).toMatchObject({ state: 'planning' });
  },
);

it.each(['block', 'await'] as const)(
  'a store shows states by it from its first answer on: %s',
  async (lock) => {
    await using temp = await tempStore();
    await temp.store.setWorkflow({ definition: WORKFLOW, digest: 'a' }, by(temp));
    const { id } = await create(temp, 'Claimed');
    await temp.store.claimTask({ id, assignee: 'bot', force: false, agents: NO_AGENTS }, by(temp, 'bot'));
    const other = { ...WORKFLOW, states: WORKFLOW.states.filter(({ name }) => name !== 'planning') };
    const definition = { ...other, status_states: { in_progress: 'review' } };
    await temp.store.setWorkflow({ definition, digest: 'b' }, by(temp));
    await using second = await openSecond(temp, lock);
    expect(await second.getTask(id)).toMatchObject({ state: 'review' });
  },
);

it('a row that no Forge wrote counts as none, and the next that is told stands in its place', async () => {
  await using temp = await tempStore();
  await temp.store.setWorkflow({ definition: WORKFLOW, digest: 'a' }, by(temp));
  using db = temp.connect();
  db.exec(`UPDATE workflow SET definition = '{"states":7}', version = 9`);
  expect(await temp.store.readKeptWorkflow()).toMatchObject({ version: 0, digest: undefined });
  await temp.store.setWorkflow({ definition: WORKFLOW, digest: 'a', shown: { before: 'a' } }, by(temp));
  expect(await temp.store.readKeptWorkflow()).toMatchObject({ version: 10, digest: 'a' });
});

it('a write that is refused leaves the one before', async () => {
  await using temp = await tempStore();
  await temp.store.setWorkflow({ definition: WORKFLOW, digest: 'a' }, by(temp));
  using db = temp.connect();
  db.exec(`CREATE TRIGGER no_events BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END`);
  await expect(temp.store.setWorkflow({ definition: undefined, digest: 'b' }, by(temp))).rejects.toThrow(
    'no',
  );
  db.exec('DROP TRIGGER no_events');
  expect(await temp.store.readKeptWorkflow()).toMatchObject({ version: 1, digest: 'a' });
});
