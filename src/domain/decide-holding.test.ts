import { expect, it } from 'vitest';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import { decideHolding } from './decide-holding.ts';
import { editRecord } from './task-changes.ts';
import { roleField } from './workflow-fields.ts';

const agent = 'bot';
const all = [null, 'ann', agent].flatMap((owner) =>
  [undefined, { agent }, { agent: 'other' }, { user: agent }].flatMap((holder) =>
    [true, false].map((or_free) => ({ owner, holder, or_free })),
  ),
);

it.each(all)('owner $owner, reviewer $holder, or free: $or_free', ({ owner, holder, or_free }) => {
  const { record } = seenTask({ state: 'in_progress', owner });
  const fields = new Map([[roleField('reviewer'), holder ?? null]]);
  const held =
    owner === agent || JSON.stringify(holder) === JSON.stringify({ agent }) || (or_free && owner === null);
  expect(decideHolding(editRecord(record, { fields }, NOW), { id: record.id, agent, or_free })).toEqual(
    held ? undefined : { outcome: 'not_held', agent },
  );
});
