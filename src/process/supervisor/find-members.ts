import type { ProcessRow } from './process-table.ts';

type Rows = ReadonlyMap<number, ProcessRow>;

/** The processes of one run as they were last seen, ended ones that nobody has waited for included. */
export interface Members {
  readonly rows: Rows;
  /** Sessions that were made by members; nobody else can join them. */
  readonly sessions: ReadonlySet<number>;
}

export const NO_MEMBERS: Members = { rows: new Map(), sessions: new Set() };

/**
 * Who belongs to a run now: members that are still there, their descendants, and everybody in their sessions. A
 * process that has left its parents and its session is not found so; `seeds` brings it back.
 *
 * The number of a session stays taken as long as it has a member and may be a stranger's afterwards. So a session
 * counts only while a known member is in it, or while the caller `holds` it because its leader ended this moment.
 */
export function findMembers(
  table: Rows,
  before: Members,
  more: { readonly seeds?: readonly ProcessRow[]; readonly holds?: number } = {},
): Members {
  const rows = new Map<number, ProcessRow>();
  const sessions = new Set<number>(more.holds === undefined ? [] : [more.holds]);
  for (const old of before.rows.values()) {
    const now = table.get(old.pid);
    if (now?.start_time !== old.start_time) continue;
    rows.set(now.pid, now);
    if (before.sessions.has(now.session) || now.session !== old.session) sessions.add(now.session);
  }
  for (const seed of more.seeds ?? []) {
    rows.set(seed.pid, seed);
    // One that is not the leader may sit in the session of somebody's terminal.
    if (seed.session === seed.pid) sessions.add(seed.session);
  }
  while (growOnce(table, rows, sessions));
  return { rows, sessions };
}

function growOnce(table: Rows, rows: Map<number, ProcessRow>, sessions: Set<number>): boolean {
  const before = rows.size;
  for (const row of table.values()) {
    if (rows.has(row.pid)) continue;
    const parent = rows.get(row.ppid);
    if (parent === undefined && !sessions.has(row.session)) continue;
    rows.set(row.pid, row);
    // It left its parent's session, so it or somebody between them made a new one.
    if (parent !== undefined && parent.session !== row.session) sessions.add(row.session);
  }
  return rows.size > before;
}
