import { NO_AGENTS } from '#domain/claimer.ts';
import { isSealed } from '#domain/record-seal.ts';
import type { Life } from '#domain/task-record.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import type { Random } from './random.ts';
import type { SyncClone } from './sync-clone.ts';
import { readLines, writeLines } from './sync-hand-steps.ts';

/** Status, owner and reason of closing are one value: one write sets all three. */
export function toLifeText({
  status,
  assignee,
  close_reason,
}: Pick<Life, 'status' | 'assignee' | 'close_reason'>): string {
  return [status, assignee ?? '-', close_reason ?? '-'].join(' ');
}

/** Of a line of the task file, where keys that say nothing may be left out. */
export function lifeTextOf({ status, assignee, close_reason }: Record<string, Json>): string {
  return [status, assignee, close_reason].map((value) => (typeof value === 'string' ? value : '-')).join(' ');
}

/** Another status, with an owner or a reason that no other write has. */
export function changeLifeByHand(line: Record<string, Json>, value: string, random: Random): void {
  line.status = random.pick(['open', 'in_progress', 'closed'] as const);
  delete line.state;
  delete line.close_reason;
  delete line.closed_at;
  line[line.status === 'closed' ? 'close_reason' : 'assignee'] = value;
}

const LIVES = ['claim', 'close', 'close', 'claim', 'reopen', 'release'] as const;

/** By command; what was refused changes nothing. */
export async function changeLifeByCommand(
  clone: SyncClone,
  { id, value }: { readonly id: string; readonly value: string },
  random: Random,
): Promise<string> {
  const { store } = clone;
  const by = clone.by();
  const step = random.pick(LIVES);
  try {
    if (step === 'claim') await store.claimTask({ id, assignee: value, force: true, agents: NO_AGENTS }, by);
    if (step === 'close') await store.closeTask({ id, reason: value }, by);
    if (step === 'reopen') await store.reopenTask({ id, reason: null }, by);
    if (step === 'release') await store.releaseTask({ id, owner: clone.name, force: true, reason: null }, by);
    return `${step} ${id} ${value}`;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return `${step} refused: ${error.code}`;
  }
}

type Line = Record<string, Json>;
const KEYS = ['status', 'state', 'assignee', 'close_reason', 'closed_at'] as const;

/** A mistake: in lines that a person edited, status, owner and closing are again as the store has them. */
export async function dropEditedLives(clone: SyncClone): Promise<void> {
  const stored = new Map<Json | undefined, Line>();
  for await (const part of clone.store.exportTasks('')) {
    const lines = part.lines.map((text) => JSON.parse(String(text)) as Line);
    for (const line of lines) stored.set(line.id, line);
  }
  const lines = readLines(clone);
  const kept = lines.map((text) => {
    const line = isSealed(text) ? undefined : tryParse(text);
    const known = stored.get(line?.id);
    if (line === undefined || known === undefined || lifeTextOf(line) === lifeTextOf(known)) return text;
    for (const key of KEYS) {
      const value = known[key];
      if (value === undefined) delete line[key];
      else line[key] = value;
    }
    return JSON.stringify(line);
  });
  if (kept.some((text, at) => text !== lines[at])) writeLines(clone, kept);
}

/** Undefined for a marker of a conflict. */
function tryParse(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}
