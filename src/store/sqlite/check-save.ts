import { decideSave, listSaveNeeds, type Save, type SaveFacts, type SaveNeeds } from '#domain/decide-save.ts';
import type { LandingFacts } from '#domain/decide-landing.ts';
import { listPlanners } from '#domain/gate-targets.ts';
import { findUnfinished, hasGivenUp } from '#domain/worked-attempts.ts';
import type { ResolvedWorkflow } from '#domain/workflow.ts';
import { listWorked } from './attempt-facts.ts';
import type { Database } from './database.ts';
import { isInHand } from './open-work-rows.ts';
import type { StoredRecord } from './record-rows.ts';
import { toDeciding, toError } from './save-plan.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The owner whose claim this write ends, where it is another's. Throws where the write may not be; every one comes by here. */
export function checkSave(
  tx: Pick<WriteTransaction, 'db' | 'by'>,
  before: StoredRecord,
  write: Omit<Save, 'before' | 'version'>,
): string | undefined {
  const { db, by } = tx;
  const save = { ...write, before: before.record, version: before.version };
  const saving = { ...toDeciding(tx), vouches: by.vouches, runner: by.hooks };
  const facts = readSaveFacts(db, before.record.id, { ...saving, needs: listSaveNeeds(save, saving) });
  const decision = decideSave(save, { facts, saving });
  if (decision.outcome !== 'allowed') throw toError(tx, before, decision);
  if (decision.settles !== undefined)
    db.run('UPDATE merges SET landing_at = NULL WHERE id = ?', decision.settles);
  return decision.former_owner;
}

function readSaveFacts(
  db: Database,
  id: string,
  { needs, workflow }: { readonly needs: SaveNeeds; readonly workflow: ResolvedWorkflow },
): SaveFacts {
  const attempts = needs.attempts ? listWorked(db, id) : [];
  return {
    unfinished: findUnfinished(attempts) !== undefined,
    given_up: attempts.length > 0 && hasGivenUp(attempts, listPlanners(workflow)),
    landing: needs.landing ? readLanding(db, id) : undefined,
    is_worked_on: needs.is_worked_on && isInHand(db, id),
  };
}

/** By idx_merges_landing, which is empty nearly always. */
function readLanding(db: Database, taskId: string): LandingFacts | undefined {
  const sql = 'SELECT id, state, finished_at FROM merges WHERE task_id = ? AND landing_at IS NOT NULL';
  const row = db.get(sql, taskId);
  if (row === undefined) return undefined;
  return {
    id: row.id as string,
    landed: row.state === 'landed',
    finished_at: row.finished_at as string | null,
  };
}
