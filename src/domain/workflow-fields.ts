import type { ErrorAnnotation, ReviewConfig, RoleHolder, Task } from '#contract/task.ts';
import type { StateKind } from '#contract/workflow.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import type { TaskRecord } from './task-record.ts';

/**
 * What the workflow keeps on a task. Each is a register of its own in the line (`role:coder`, `archived_at`,
 * `review_config`, …), so that it is joined, exported and kept by older versions like every key they do not know.
 */
const ROLE = 'role:';

export function roleField(role: string): string {
  return `${ROLE}${role}`;
}

type Shown = Pick<Task, 'archived_at' | 'review_config' | 'review_passed_at' | 'error_annotation' | 'roles'>;

/** The part of a Task that comes from these fields; what is empty is left out. */
export function showWorkflowFields(fields: Iterable<readonly [string, Json]>): Shown {
  const roles: Record<string, RoleHolder> = Object.create(null) as Record<string, RoleHolder>;
  let hasRoles = false;
  const shown: { -readonly [K in keyof Shown]: Shown[K] } = {};
  for (const [name, value] of fields) {
    if (value === null) continue;
    if (name.startsWith(ROLE)) {
      const holder = readHolder(value);
      if (holder === undefined) continue;
      roles[name.slice(ROLE.length)] = holder;
      hasRoles = true;
    } else if (name === 'archived_at' || name === 'review_passed_at') {
      if (typeof value === 'string') shown[name] = value;
    } else if (name === 'review_config') {
      const config = readReviewConfig(value);
      if (config !== undefined) shown.review_config = config;
    } else if (name === 'error_annotation') {
      const annotation = readAnnotation(value);
      if (annotation !== undefined) shown.error_annotation = annotation;
    }
  }
  if (hasRoles) shown.roles = roles;
  return shown;
}

/** Fields of a record that no other part of it knows. */
export function* otherFields(record: TaskRecord): Generator<readonly [string, Json]> {
  for (const [name, { value }] of record.fields) yield [name, value];
}

export function isArchived(record: TaskRecord): boolean {
  return typeof record.fields.get('archived_at')?.value === 'string';
}

/** Who had a task when it was last submitted to a gate, kept by `submitField`. */
const SUBMITTED_BY = 'submitted_by';

/**
 * What a move into a gate writes down besides: whose work it is that waits there, which a later owner does not change.
 * From gate to gate nothing new is submitted.
 */
export function submitField(
  record: TaskRecord,
  move: { readonly from: StateKind | undefined; readonly to: StateKind | undefined; readonly actor: string },
): ReadonlyMap<string, Json> {
  if (move.to !== 'gate' || move.from === 'gate') return new Map();
  return new Map([[SUBMITTED_BY, record.life.assignee ?? move.actor]]);
}

/** Whose work it is that waits in a gate; the owner's where nothing was written down. */
export function submitterOf(task: {
  readonly [SUBMITTED_BY]: unknown;
  readonly assignee: string | null;
}): string | null {
  const value = task[SUBMITTED_BY];
  return typeof value === 'string' ? value : task.assignee;
}

/** Lines come from anywhere: what does not look like one is nobody. */
export function readHolder(value: Json): RoleHolder | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value.agent === 'string') return { agent: value.agent };
  return typeof value.user === 'string' ? { user: value.user } : undefined;
}

/** Whom a role was given to; undefined where nobody was named. */
export function roleHolder(record: TaskRecord, role: string): RoleHolder | undefined {
  const value = record.fields.get(roleField(role))?.value;
  return value === undefined ? undefined : readHolder(value);
}

export function holderName(holder: RoleHolder): string {
  return 'agent' in holder ? holder.agent : holder.user;
}

function readReviewConfig(value: Json): ReviewConfig | undefined {
  if (!isObject(value)) return undefined;
  const { ci_steps, review_prompt } = value;
  const steps = Array.isArray(ci_steps) && ci_steps.every((step) => typeof step === 'string');
  return {
    ...(steps && { ci_steps: ci_steps as string[] }),
    ...(typeof review_prompt === 'string' && { review_prompt }),
  };
}

function readAnnotation(value: Json): ErrorAnnotation | undefined {
  if (!isObject(value)) return undefined;
  const { code, message, at } = value;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof at !== 'string') return undefined;
  return { code, message, at };
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
