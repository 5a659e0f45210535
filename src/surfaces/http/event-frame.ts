import type { EventOfSource } from '#operations/event-source.ts';
import { type Positions, toCursor } from './event-cursor.ts';

/** One event as it goes over the wire: made once, sent to everybody. */
export interface Frame {
  readonly project: string;
  readonly seq: number;
  readonly type: string;
  readonly task_id: string | null;
  readonly bytes: Buffer;
  /** Where a reader is that has seen it. */
  readonly positions: Positions;
}

/** What a reader wants; everything that is left out. */
export interface EventFilter {
  readonly projects: ReadonlySet<string> | undefined;
  readonly task_id: string | undefined;
  readonly types: readonly string[] | undefined;
}

export function toFrame(project: string, event: EventOfSource, positions: Positions): Frame {
  const { seq, type, task_id, triggered_by, created_at, data } = event;
  // The row's own JSON is put in as it stands: parsing it only to write it again was most of the work.
  const head = JSON.stringify({ project, seq, type, task_id, triggered_by, created_at });
  const text = `id: ${toCursor(positions)}\nevent: ${oneLine(type)}\ndata: ${head.slice(0, -1)},"data":${oneLine(data)}}\n\n`;
  return { project, seq, type, task_id, bytes: Buffer.from(text), positions };
}

/** A project's feed has begun anew: whoever follows it reads the tasks again. */
export function toResetFrame(project: string, positions: Positions): Frame {
  const type = 'project.changed';
  const seq = positions.get(project)?.seq ?? 0;
  const data = JSON.stringify({
    project,
    seq,
    type,
    task_id: null,
    data: { changed: ['tasks'], reset: true },
  });
  const text = `id: ${toCursor(positions)}\nevent: ${type}\ndata: ${data}\n\n`;
  return { project, seq, type, task_id: null, bytes: Buffer.from(text), positions };
}

export function wants({ projects, task_id, types }: EventFilter, frame: Frame): boolean {
  if (projects !== undefined && !projects.has(frame.project)) return false;
  if (task_id !== undefined && frame.task_id !== task_id) return false;
  return types === undefined || types.includes(frame.type);
}

export function isEverything({ projects, task_id, types }: EventFilter): boolean {
  return projects === undefined && task_id === undefined && types === undefined;
}

/** Only damage has line ends here; they would end the field. */
function oneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text;
}
