import type { Json } from '#kernel/json.ts';
import type { Edit, ElementEdit } from './task-changes.ts';

/** What an update says of everything but status, state and owner; `parent_id` is a whole id. */
export interface FieldWish {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly priority?: number | undefined;
  readonly type?: string | undefined;
  readonly github_issue?: number | null | undefined;
  readonly parent_id?: string | null | undefined;
  readonly labels_add?: readonly string[] | undefined;
  readonly labels_remove?: readonly string[] | undefined;
  readonly metadata_set?: ReadonlyMap<string, Json> | undefined;
  readonly metadata_unset?: readonly string[] | undefined;
  readonly workflow_fields?: ReadonlyMap<string, Json> | undefined;
}

/** What is both taken away and given is given. */
export function toFieldEdit(wish: FieldWish): Edit {
  const fields = new Map<string, Json>();
  for (const name of ['title', 'description', 'priority', 'type', 'github_issue', 'parent_id'] as const) {
    const value = wish[name];
    if (value !== undefined) fields.set(name, value);
  }
  for (const [name, value] of wish.workflow_fields ?? []) fields.set(name, value);
  const labels = new Map<string, ElementEdit>();
  for (const label of wish.labels_remove ?? []) labels.set(label, { value: undefined });
  for (const label of wish.labels_add ?? []) labels.set(label, { value: true });
  const metadata = new Map<string, ElementEdit>();
  for (const key of wish.metadata_unset ?? []) metadata.set(key, { value: undefined });
  for (const [key, value] of wish.metadata_set ?? []) metadata.set(key, { value });
  return { fields, labels, metadata };
}
