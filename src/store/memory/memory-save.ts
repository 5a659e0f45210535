import { decideSave, type Save } from '#domain/decide-save.ts';
import { listPlanners } from '#domain/gate-targets.ts';
import { findUnfinished, hasGivenUp } from '#domain/worked-attempts.ts';
import { readLanding } from './memory-merges.ts';
import { toDeciding, toError } from './memory-seen.ts';
import type { TaskRow } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { isWorkedOn } from './memory-watches.ts';
import { listWorked } from './memory-worked.ts';

/** The owner whose claim a write ends, where it is another's. Throws where the write may not be; every one comes by here. */
export function checkSave(
  tx: MemoryTransaction,
  before: TaskRow,
  write: Omit<Save, 'before' | 'version'>,
): string | undefined {
  const { tables, by } = tx;
  const { id } = before.record;
  const save = { ...write, before: before.record, version: before.version };
  const saving = { ...toDeciding(tx), vouches: by.vouches, runner: by.hooks };
  const attempts = listWorked(tables, id);
  const facts = {
    unfinished: findUnfinished(attempts) !== undefined,
    given_up: hasGivenUp(attempts, listPlanners(saving.workflow)),
    landing: readLanding(tables, id),
    is_worked_on: isWorkedOn(tables, id) || tables.watches.get(id) !== undefined,
  };
  const decision = decideSave(save, { facts, saving });
  if (decision.outcome !== 'allowed') throw toError(tables, before, decision);
  const merge = decision.settles === undefined ? undefined : tables.merges.get(decision.settles);
  if (merge !== undefined) tables.merges.set(merge.merge.id, { ...merge, landing_at: null });
  return decision.former_owner;
}
