import type { Answer, Request, TaskSetup } from './linear-history.ts';
import { STATES } from './linear-task-model.ts';
import type { Random } from './random.ts';

/** Short, so that a run of seconds sees many of them end. */
export const LEASES_MS = [250, 500];

/** One of the clients owns a role of one task; another task waits for one that stays open. */
export const SETUPS: readonly TaskSetup[] = [
  { id: 'fg-aaaa', rank: 0, waits: false },
  { id: 'fg-bbbb', rank: 1, waits: false },
  { id: 'fg-cccc', rank: 2, waits: false, coder: 'worker-3' },
  { id: 'fg-dddd', rank: 3, waits: true },
  { id: 'fg-eeee', rank: 4, waits: false },
];

/** What a client remembers of a task; most of it is old by the time it is used, which is the point. */
export type Memory = Map<string, { fence?: number; version?: number }>;

export function remember(memory: Memory, request: Request, answer: Answer): void {
  const task = answer.facts.task ?? ('task' in request ? request.task : undefined);
  if (task === undefined) return;
  const { fence, version } = answer.facts;
  const known = memory.get(task) ?? {};
  memory.set(task, {
    ...known,
    ...(version !== undefined && { version }),
    // What a read tells is somebody else's most often: a client that uses it is a broken one, and there are some.
    ...(fence !== undefined && (request.op !== 'read' || fence % 4 === 0) && { fence }),
  });
}

/** Something that a client of this name may want now. */
export function chooseRequest(
  random: Random,
  { actor, now, memory }: { readonly actor: string; readonly now: number; readonly memory: Memory },
): Request {
  // Most of the traffic on few tasks, or nobody would meet.
  const { id: task } = random.pick(random.oneIn(2) ? SETUPS.slice(0, 2) : SETUPS);
  const known = memory.get(task) ?? {};
  const fence = known.fence ?? random.below(3);
  const version = known.version ?? 1;
  const lease = random.oneIn(4) ? {} : { lease_ms: random.pick(LEASES_MS) };
  const withFence = random.oneIn(3) ? {} : { fence };
  switch (random.pick(WEIGHTED)) {
    case 'claim':
      return { op: 'claim', now, task, actor, force: random.oneIn(8), ...lease };
    case 'next':
      return { op: 'next', now, actor, ...lease };
    case 'renew':
      return { op: 'renew', now, task, fence };
    case 'release':
      return { op: 'release', now, task, actor, force: random.oneIn(8), ...withFence };
    case 'transition': {
      const to = random.pick(random.oneIn(3) ? Object.keys(STATES) : LIKELY);
      const asked = random.pick([{}, { version }, { fence }, { fence, version }]);
      return { op: 'transition', now, task, actor, to, ...asked };
    }
    case 'close':
      return { op: 'close', now, task, actor, ...random.pick([{}, { version }, { fence }, { fence }]) };
    case 'reopen':
      return { op: 'reopen', now, task, ...(random.oneIn(3) && { version }) };
    case 'read':
      return { op: 'read', now, task };
    case 'grace':
      return { op: 'grace', now };
  }
}

const LIKELY = ['in_progress', 'in_progress', 'review', 'todo', 'planning', 'blocked'];

const WEIGHTS: Readonly<Record<Exclude<Request['op'], 'grace'>, number>> = {
  claim: 30,
  next: 8,
  renew: 14,
  release: 12,
  transition: 18,
  close: 5,
  reopen: 10,
  read: 6,
};
const WEIGHTED = Object.entries(WEIGHTS).flatMap(([op, weight]) =>
  Array.from({ length: weight }, () => op as Request['op']),
);
