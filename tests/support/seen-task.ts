import type { Status } from '#contract/task.ts';
import { claimRecord, closeRecord, moveRecord, newRecord } from '#domain/task-changes.ts';
import type { Deciding, SeenTask } from '#domain/task-plan.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';

export const NOW = Date.UTC(2026, 1, 10, 9);
const BEFORE = NOW - 60_000;

/** A task in one state of the default workflow, with version 7 and fence 3, as a decision sees it. */
export function seenTask(given: { readonly state?: string; readonly owner?: string | null } = {}): SeenTask {
  const { state = 'todo', owner = null } = given;
  const record = toState(emptyRecord(), state, owner);
  return { record, version: 7, fence: 3 };
}

export function deciding(
  who: 'user' | 'agent' | 'system' = 'user',
  more: Partial<Pick<Deciding, 'workflow'>> = {},
): Deciding {
  return { actor: { kind: who, name: 'me' }, now: NOW, workflow: DEFAULT_RESOLVED, ...more };
}

function emptyRecord(): TaskRecord {
  const fields = {
    title: 'One',
    description: '',
    priority: 2,
    type: 'task',
    parent_id: null,
    github_issue: null,
  } as const;
  const rest = { assignee: null, state: 'todo', labels: [], dependencies: [], metadata: new Map() };
  return newRecord({ id: 'fg-a1b2', created_by: 'ann', fields, ...rest }, BEFORE);
}

function toState(record: TaskRecord, state: string, owner: string | null): TaskRecord {
  const kind = DEFAULT_RESOLVED.states.get(state)?.kind ?? 'custom';
  const claimed = owner === null ? record : claimRecord(record, owner, BEFORE + 1, 'in_progress');
  if (kind === 'terminal') return closeRecord(claimed, 'done', BEFORE + 2, state);
  const status: Status = kind === 'initial' || kind === 'backlog' ? 'open' : 'in_progress';
  return moveRecord(claimed, { status, state, assignee: owner }, BEFORE + 2);
}
