import type { Json } from '#kernel/json.ts';
import { sameJson } from './same-value.ts';
import { isDeleted, type TaskRecord } from './task-record.ts';

/** What of a task judges its work or says that it is done, as far as both differ in it; in words. */
export function listGateChanges(before: TaskRecord, after: TaskRecord): string[] {
  const names = new Set([...before.fields.keys(), ...after.fields.keys()]);
  const valueOf = ({ fields }: TaskRecord, name: string): Json => fields.get(name)?.value ?? null;
  const differs = (name: string): boolean => !sameJson(valueOf(before, name), valueOf(after, name));
  const roles = [...names].filter((name) => name.startsWith(ROLE) && differs(name));
  return [
    ...(differs('review_config') ? ['checks'] : []),
    ...roles.map((name) => name.slice(ROLE.length)).toSorted(),
    ...(before.life.status === after.life.status && before.life.state === after.life.state ? [] : ['status']),
    ...(differs('archived_at') ? ['archived'] : []),
    ...(isDeleted(before) === isDeleted(after) ? [] : ['deleted']),
  ];
}

const ROLE = 'role:';
