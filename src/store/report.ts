/** What reports over the store answer with. */

/** A task that was closed so long ago counts as closed lately. */
export const LATELY_MS = 7 * 24 * 3_600_000;

export interface HistoryEntry {
  /** The event's number; null for what happened elsewhere. */
  seq: number | null;
  type: string;
  at: string;
  triggered_by: string;
  summary: string;
  changed: string[];
  from_state: string | null;
  to_state: string | null;
  reason: string | null;
}

export interface StoreStats {
  total: number;
  by_status: Record<string, number>;
  by_state: Record<string, number>;
  by_type: Record<string, number>;
  by_priority: Record<string, number>;
  ready: number;
  blocked: number;
  parked: number;
  assigned: { assignee: string; in_progress: number; open: number }[];
  closed_last_7_days: number;
  deleted: number;
}

export interface DeletedTask {
  readonly id: string;
  readonly deleted_at: string;
  /** What the task held, and what hung on it. A deletion that came from another clone leaves one or both unknown. */
  readonly knows: { readonly content: boolean; readonly links: boolean };
}
