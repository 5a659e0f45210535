import { joinGraphs, type TaskGraph } from '#domain/join-graphs.ts';
import { joinRecords } from '#domain/join-records.ts';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import type { Json } from '#kernel/json.ts';
import { compareText } from '#kernel/text.ts';

/** All that the laws of the join look at, so that a wrong one can be put in its place. */
export interface World {
  readonly encode: (record: TaskRecord) => string;
  readonly decode: (line: Json) => TaskRecord;
  readonly joinRecords: (a: TaskRecord, b: TaskRecord) => TaskRecord;
  readonly joinGraphs: (a: TaskGraph, b: TaskGraph) => TaskGraph;
  /** What an operation leaves behind: `after` itself, unless the operations are wrong. */
  readonly settle: (before: TaskRecord, after: TaskRecord) => TaskRecord;
}

export const FORGE: World = {
  encode: (record) => encodeRecord(record),
  decode: decodeRecord,
  joinRecords,
  joinGraphs,
  settle: (_before, after) => after,
};

/** A file: a line a task, sorted by id. */
export function toFile(world: World, graph: TaskGraph): string {
  const ids = [...graph.keys()].sort(compareText);
  return ids.map((id) => world.encode(graph.get(id) as TaskRecord)).join('\n'); // the ids were just listed
}

export function fromFile(world: World, file: string): Map<string, TaskRecord> {
  const graph = new Map<string, TaskRecord>();
  if (file === '') return graph;
  for (const line of file.split('\n')) {
    const record = world.decode(JSON.parse(line) as Json);
    graph.set(record.id, record);
  }
  return graph;
}
