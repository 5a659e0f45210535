import { summariseWork } from './summarise-work.ts';
import type { WorkData } from './work-event.ts';

/** What is told of an event in a task's history; `reason` is that of the move that it was. */
export interface ToldEvent {
  readonly type: string;
  readonly reason: string | null;
  readonly data: EventData;
}

/** What the events of tasks and attempts carry; each has those that its name says. */
export interface EventData extends WorkData {
  readonly changed?: readonly string[];
  readonly task?: { readonly title?: string; readonly assignee?: string | null };
  readonly comment?: { readonly body: string };
  readonly dependency?: Edge;
  readonly dependencies?: readonly Edge[];
  readonly restored?: true;
  readonly forced?: true;
}

interface Edge {
  readonly id: string;
  readonly type: string;
}

/** One line of a task's history. */
export function summariseEvent({ type, reason, data }: ToldEvent): string {
  const work = summariseWork(type, data);
  if (work !== undefined) return work;
  const edges = [...(data.dependencies ?? []), ...(data.dependency === undefined ? [] : [data.dependency])];
  const named = edges.map((edge) => `${edge.id} (${edge.type})`).join(', ');
  const { changed = [] } = data;
  switch (type) {
    case 'task.created':
      return data.restored === true ? 'restored' : `created: ${data.task?.title ?? ''}`;
    case 'task.claimed':
      return `claimed by ${data.task?.assignee ?? 'nobody'}${reason === 'forced' ? ', forced' : ''}`;
    case 'task.commented':
      return `comment: ${data.comment?.body.split('\n', 1)[0] ?? ''}`;
    case 'dependency.added':
      return `depends on ${named}`;
    case 'dependency.removed':
      return `no longer depends on ${named}`;
    case 'task.updated':
      return changed.length === 0 ? 'updated' : `changed ${changed.join(', ')}`;
    default: {
      const happened = type.replace(/^.*\./, '').replaceAll('_', ' ');
      const why = reason === null ? '' : `: ${reason}`;
      return `${happened}${why}${data.forced === true && reason !== 'forced' ? ', forced' : ''}`;
    }
  }
}
