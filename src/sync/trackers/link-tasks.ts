import type { DependencyType } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
import { compareText } from '#kernel/text.ts';
import { createdTime, type AddNote, type TrackerLink, type TrackerTask } from './tracker-task.ts';
import { latest } from './tracker-time.ts';
import { findClosing } from './order-edges.ts';

export interface LinkedTask {
  readonly task: TrackerTask;
  /** Keys, not ids. */
  readonly parent: string | undefined;
  readonly dependencies: readonly { readonly key: string; readonly type: DependencyType }[];
  /** When the youngest of its links can have been made at the earliest. */
  readonly linked: number | undefined;
}

/**
 * Parents and dependencies that Forge accepts: both ends are there, parents make a tree, `blocks` makes no
 * cycle. A link that does not fit becomes `related`, or is kept in metadata where its other end is missing.
 */
export function linkTasks(tasks: readonly TrackerTask[], note: AddNote): LinkedTask[] {
  const byKey = new Map(tasks.map((task) => [task.key, task]));
  const edges = tasks
    .flatMap((task) => presentLinks(task, byKey, note).map((link) => ({ from: task, link })))
    // The oldest first: what closes a cycle is then the link that was added to it last.
    .sort(
      (a, b) =>
        edgeTime(a) - edgeTime(b) ||
        compareText(a.from.key, b.from.key) ||
        compareText(a.link.key, b.link.key),
    );
  const parents = chooseParents(edges, note);
  const closing = closingLinks(edges, note);
  const chosen = new Map(tasks.map((task) => [task.key, new Map<string, TrackerLink>()]));
  for (const { from, link } of edges) {
    if (link.type === 'parent' && parents.get(from.key) === link.key) continue;
    const type = link.type === 'parent' || closing.has(link) ? 'related' : link.type;
    chosen.get(from.key)?.set(`${link.key}:${type}`, { ...link, type });
  }
  return tasks.map((task) => {
    const parent = parents.get(task.key);
    const links = fitCount(task, [...(chosen.get(task.key)?.values() ?? [])], note);
    const ends = [parent, ...links.map(({ key }) => key)].map((key) => byKey.get(key ?? '')?.created);
    return {
      task,
      parent,
      dependencies: links.map(({ key, type }) => ({ key, type: type as DependencyType })), // parents are gone
      linked: latest(...ends, ...links.map(({ at }) => at)),
    };
  });
}

interface Edge {
  readonly from: TrackerTask;
  readonly link: TrackerLink;
}

function edgeTime({ from, link }: Edge): number {
  return link.at ?? createdTime(from);
}

function presentLinks(
  task: TrackerTask,
  byKey: ReadonlyMap<string, TrackerTask>,
  note: AddNote,
): TrackerLink[] {
  const missing: string[] = [];
  const present = task.links.filter((link) => {
    if (byKey.has(link.key) && link.key !== task.key) return true;
    const why =
      link.key === task.key ? 'points to the task itself' : 'points to a task that is not in this import';
    const field = link.type === 'parent' ? 'parent' : 'dependencies';
    note({ where: task.id, field, what: `"${link.written}" ${why}; kept in metadata` });
    missing.push(`${link.type}:${link.written}`);
    return false;
  });
  if (missing.length > 0) task.kept.set('missing_links', missing);
  return present;
}

/** A tree: the first parent counts, and none that is below the task already. */
function chooseParents(edges: readonly Edge[], note: AddNote): Map<string, string> {
  const parents = new Map<string, string>();
  const tops = new Map<string, string>();
  for (const { from, link } of edges) {
    if (link.type !== 'parent' || parents.get(from.key) === link.key) continue;
    const why = parents.has(from.key)
      ? 'a task has one parent here'
      : findTop(link.key, tops) === from.key
        ? 'it is below the task already'
        : undefined;
    if (why === undefined) {
      parents.set(from.key, link.key);
      tops.set(from.key, link.key);
    } else note({ where: from.id, field: 'parent', what: `"${link.written}" became related: ${why}` });
  }
  return parents;
}

/**
 * The task without a parent that a task is below. What was walked is made shorter for the next (the halving of a
 * union-find): parent by parent each time, a chain of tasks took the square of its length.
 */
function findTop(key: string, tops: Map<string, string>): string {
  let at = key;
  for (let above = tops.get(at); above !== undefined; above = tops.get(at)) {
    const next = tops.get(above);
    if (next !== undefined) tops.set(at, next);
    at = above;
  }
  return at;
}

/** The `blocks` that would close a cycle, noted. */
function closingLinks(edges: readonly Edge[], note: AddNote): Set<TrackerLink> {
  const blocking = edges
    .filter(({ link }) => link.type === 'blocks')
    .map(({ from, link }) => ({ from: from.key, to: link.key, link, where: from.id }));
  const { closing } = findClosing(blocking);
  for (const [{ where, link }, kind] of closing) {
    const would = kind === 'closes' ? 'would' : 'may';
    const what = `blocked by "${link.written}" ${would} close a cycle; it became related`;
    note({ where, field: 'dependencies', what });
  }
  return new Set([...closing.keys()].map(({ link }) => link));
}

function fitCount(task: TrackerTask, links: readonly TrackerLink[], note: AddNote): readonly TrackerLink[] {
  const most = LIMITS.dependencies_per_task;
  if (links.length <= most) return links;
  task.kept.set(
    'more_dependencies',
    links.slice(most).map(({ type, written }) => `${type}:${written}`),
  );
  note({ where: task.id, field: 'dependencies', what: `more than ${most}; the others are kept in metadata` });
  return links.slice(0, most);
}
