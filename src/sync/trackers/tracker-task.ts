import type { DependencyType, Status, TaskType } from '#contract/task.ts';
import type { Json } from '#kernel/json.ts';

export type Tracker = 'beads' | 'backlog-md' | 'task-master';

/** What has no place here, was changed on the way, or could not be read. */
export interface TrackerNote {
  /** Their id, or `file:line` where there is none. */
  readonly where: string;
  readonly field?: string;
  readonly what: string;
}

export type AddNote = (note: TrackerNote) => void;

/** A task as every reader hands it on: in our words, but with their ids and of any length. */
export interface TrackerTask {
  /** Their id, as they write it. */
  readonly id: string;
  /** The id in the one spelling that their other tasks refer to; ours is computed from it. */
  readonly key: string;
  /** Two entries with one key are the same task where this is the same too. */
  readonly twin: string;
  readonly title: string;
  readonly description: string;
  readonly status: Status;
  /** Null: the one that the status means. */
  readonly state: string | null;
  readonly close_reason: string;
  readonly priority: number;
  readonly type: TaskType;
  readonly assignee: string;
  readonly labels: readonly string[];
  readonly github_issue: number | null;
  readonly created_by: string;
  /** Milliseconds; undefined where they do not say. */
  readonly created: number | undefined;
  readonly updated: number | undefined;
  readonly closed: number | undefined;
  readonly deleted: number | undefined;
  readonly links: readonly TrackerLink[];
  readonly comments: readonly TrackerComment[];
  /** Metadata of their own: its keys become keys of ours. */
  readonly metadata: ReadonlyMap<string, Json>;
  /** What has no field here: `metadata.<tool>`. Later steps add what does not fit. */
  readonly kept: Map<string, Json>;
}

export interface TrackerLink {
  /** `parent` becomes parent_id. */
  readonly type: DependencyType | 'parent';
  readonly key: string;
  /** The id as they wrote it there. */
  readonly written: string;
  /** When the link was made, where they say. */
  readonly at: number | undefined;
}

export interface TrackerComment {
  readonly author: string;
  readonly body: string;
  readonly at: number | undefined;
}

/** Below which key of our metadata a tool's fields stand: no hyphen, so that `metadata.backlog_md` can be typed. */
export function metadataKey(tool: Tracker): string {
  return tool.replaceAll('-', '_');
}

/** The time of what has no time: a constant, so that reading it again gives the same task. */
export const UNKNOWN_TIME = Date.UTC(2000, 0, 1);

export function createdTime(task: TrackerTask): number {
  return task.created ?? UNKNOWN_TIME;
}
