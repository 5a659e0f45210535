import type { SessionStep } from './power-loss-session.ts';
import type { Random } from './random.ts';
import { toTaskId } from './strace-scenarios.ts';

type Kind = keyof typeof STEPS;

/** What the sessions know of the tasks that they began with. */
interface Known {
  readonly random: Random;
  readonly open: Set<number>;
  readonly claimed: Set<number>;
  readonly closed: Set<number>;
  readonly deleted: Set<number>;
  readonly edges: Set<string>;
  made: number;
}

/** One for each kind of command that writes; those that people use most come more often. */
const STEPS = {
  create: (known) => {
    known.made += 1;
    const flags = known.random.pick([[], ['--label', 'new'], ['--parent', id(pick(known, known.open))]]);
    return [forge('task', 'create', `Made ${known.made}`, '--description', words(known), ...flags)];
  },
  update: (known) => {
    const at = pick(known, known.open);
    const value = `${known.random.below(1_000)}`;
    const flags = known.random.pick([
      ['--title', `Changed ${value}`],
      ['--priority', `${known.random.below(5)}`, '--label-add', `v${value}`],
      ['--meta-set', `n=${value}`, '--description', words(known)],
    ]);
    return [forge('task', 'update', id(at), ...flags)];
  },
  claim: (known) => {
    const at = pick(known, known.open);
    known.open.delete(at);
    known.claimed.add(at);
    const flags = known.random.pick([[], ['--lease', '600']]);
    return [forge('claim', id(at), '--force', ...flags)];
  },
  close: (known) => {
    const at = pick(known, known.claimed.size > 0 ? known.claimed : known.open);
    known.claimed.delete(at);
    known.open.delete(at);
    known.closed.add(at);
    return [forge('task', 'close', id(at), '--reason', words(known, 40))];
  },
  reopen: (known) => {
    if (known.closed.size === 0) return [];
    const at = pick(known, known.closed);
    known.closed.delete(at);
    known.open.add(at);
    return [forge('task', 'reopen', id(at))];
  },
  comment: (known) => [forge('task', 'comment', id(pick(known, known.open)), words(known))],
  depend: (known) => {
    const [a, b] = [pick(known, known.open), pick(known, known.open)];
    // From the larger number to the smaller one, so that no task waits for itself.
    const edge = `${Math.max(a, b)} ${Math.min(a, b)}`;
    if (a === b || known.edges.has(edge)) return [];
    known.edges.add(edge);
    return [forge('dep', 'add', id(Math.max(a, b)), id(Math.min(a, b)), '--type', 'related')];
  },
  remove: (known) => {
    const at = pick(known, known.open);
    known.open.delete(at);
    known.deleted.add(at);
    return [forge('task', 'delete', id(at))];
  },
  restore: (known) => {
    if (known.deleted.size === 0) return [];
    const at = pick(known, known.deleted);
    known.deleted.delete(at);
    known.open.add(at);
    return [forge('task', 'restore', id(at))];
  },
  export: () => [forge('export')],
  commit: (known) => [
    { git: ['commit', '--quiet', '--all', '--allow-empty', '-m', words(known).slice(0, 20)] },
  ],
  edit: (known) => {
    const title = `By hand ${known.random.below(1_000)}`;
    const change = (text: string): string =>
      text.replace(/"title":"(Task|Changed|By hand) \d+"/, `"title":"${title}"`);
    return [forge('export'), { write: '.forge/tasks.jsonl', change }, forge('import')];
  },
  gc: () => [forge('gc')],
  rebuild: () => [forge('doctor', '--rebuild')],
} satisfies Record<string, (known: Known) => SessionStep[]>;

const OFTEN: readonly Kind[] = ['create', 'update', 'claim', 'close', 'comment', 'depend'];

/**
 * A session over `tasks` tasks: every kind once and the common ones twice, in an order of the seed. Kinds of `without`
 * are left out.
 */
export function writeSession(random: Random, tasks: number, without: readonly Kind[] = []): SessionStep[] {
  const known: Known = {
    random,
    open: new Set(Array.from({ length: tasks }, (_, at) => at)),
    claimed: new Set(),
    closed: new Set(),
    deleted: new Set(),
    edges: new Set(Array.from({ length: tasks }, (_, at) => `${at} ${at - 1}`)),
    made: 0,
  };
  // The keys of the table are its kinds.
  const kinds = [...(Object.keys(STEPS) as Kind[]), ...OFTEN].filter((kind) => !without.includes(kind));
  const shuffled = kinds.map((kind) => ({ kind, at: random.below(1 << 30) })).sort((a, b) => a.at - b.at);
  return shuffled.flatMap(({ kind }) => STEPS[kind](known));
}

function forge(...args: string[]): SessionStep {
  return { forge: args };
}

function id(at: number): string {
  return toTaskId(at);
}

function pick({ random }: Known, tasks: ReadonlySet<number>): number {
  return random.pick([...tasks]);
}

/** Some are longer than a sector of a disk, and some longer than a page. */
function words({ random }: Known, longest = 400): string {
  return `Words ${random.below(1_000)}. `.repeat(random.pick([1, 1, 40, longest]));
}
