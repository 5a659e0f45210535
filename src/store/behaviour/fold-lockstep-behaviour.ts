import { describe, expect, it } from 'vitest';
import {
  exportLines,
  exportMoves,
  FILE,
  toRequest,
  type FoldOptions,
} from '../../../tests/support/fold-lines.ts';
import { seededRandom, type Random } from '../../../tests/support/random.ts';
import { by, everything, line } from './open-behaviour.ts';
import type { OpenSync, SyncUnderTest } from './open-sync-behaviour.ts';
import { drawWrite, outcomeOf } from './random-writes-behaviour.ts';

const STEPS = 40;

/**
 * Two stores that are given the same files, and are written to in the same way in between, say the same of each file and
 * hold the same after it. A third one writes the files; persons and tools change them on the way.
 */
export function describeFoldLockstep(
  name: string,
  {
    open,
    openOther,
    seeds,
  }: { readonly open: OpenSync; readonly openOther: OpenSync; readonly seeds: number },
): void {
  describe(`two stores that are given the same files, ${name}`, () => {
    it.each(Array.from({ length: seeds }, (_, at) => at + 1))(
      'say and hold the same (seed %i)',
      async (seed) => {
        const random = seededRandom(seed);
        await using source = await open();
        await using here = await open();
        await using there = await openOther();
        const both = [here, there] as const;
        for (let step = 0; step < STEPS; step += 1) {
          await writeSome(source, random);
          const [ours, theirs] = await takeStep({ source, both }, random);
          expect(theirs).toEqual(ours);
          expect(await hold(there)).toEqual(await hold(here));
        }
        expect(await tell(there)).toEqual(await tell(here));
      },
    );
  });
}

interface World {
  readonly source: SyncUnderTest;
  readonly both: readonly [SyncUnderTest, SyncUnderTest];
}

/** Its tasks come by lines, so that their ids are those of every run. */
async function writeSome(source: SyncUnderTest, random: Random): Promise<void> {
  for (let left = random.below(5); left >= 0; left -= 1) {
    const ids = await listIds(source);
    if (ids.length < 3 || random.oneIn(10)) {
      const born = `fg-t${random.below(1_000)}`;
      const created_at = new Date(source.clock.now()).toISOString();
      if (!(await source.store.holdsTask(born)))
        await source.bring([line(born, { created_at, updated_at: created_at })]);
      continue;
    }
    const drawn = drawWrite(random, { ids, makes: false });
    await outcomeOf(drawn(source.store, by(source, random.pick(['ann', 'bob']), 'user')));
  }
}

/** The same in both, with what each says of it. */
async function takeStep({ source, both }: World, random: Random): Promise<unknown[]> {
  const kind = random.below(10);
  if (kind < 5) {
    const { lines, options } = spoil(await exportLines(source), random);
    return each(both, (sut) => sut.store.foldTasks(toRequest(lines, options), writer(sut)));
  }
  if (kind < 6) {
    const request = toRequest([...(await exportMoves(source)), ...(random.oneIn(3) ? ['rubbish'] : [])], {
      path: 'history',
    });
    return each(both, (sut) => sut.store.foldHistory(request, writer(sut)));
  }
  const ids = await listIds(both[0]);
  if (kind < 8) {
    const drawn = drawWrite(random, { ids, makes: false });
    const who = random.pick(['ann', 'bob', 'eve']);
    return each(both, (sut) => outcomeOf(drawn(sut.store, by(sut, who, 'user'))));
  }
  if (kind < 9) return each(both, share);
  const settle = {
    id: ids.length === 0 ? 'fg-none' : random.pick(ids),
    field: undefined,
    take_lost: random.oneIn(2),
  };
  if (random.oneIn(3)) return each(both, (sut) => sut.store.prune(sut.clock.now() - 20_000, by(sut)));
  return each(both, (sut) => outcomeOf(sut.store.settleConflicts(settle, by(sut, 'ann', 'user'))));
}

async function each(both: World['both'], act: (sut: SyncUnderTest) => Promise<unknown>): Promise<unknown[]> {
  return [await act(both[0]), await act(both[1])];
}

/** The file is written: what is in it has left the store. */
async function share(sut: SyncUnderTest): Promise<unknown> {
  const lines = await exportLines(sut);
  const { mark } = toRequest(lines);
  await sut.store.markExported([{ ...mark, event_seq: await sut.store.newestEvent() }]);
  return lines;
}

/** What may become of a file before it is read. */
function spoil(lines: readonly string[], random: Random): { lines: string[]; options: FoldOptions } {
  const edit = (line: string, change: (json: Record<string, unknown>) => void): string => {
    const json = JSON.parse(line) as Record<string, unknown>;
    change(json);
    return JSON.stringify(json);
  };
  const some = (change: (line: string) => string): string[] =>
    lines.map((line) => (random.oneIn(3) ? change(line) : line));
  const word = `by hand ${random.below(100)}`;
  const later = new Date(Date.UTC(2026, 1, 10, 9) + random.below(600_000)).toISOString();
  const ways: readonly (() => { lines: string[]; options?: FoldOptions })[] = [
    () => ({ lines: [...lines] }),
    () => ({ lines: [...lines] }),
    () => ({ lines: lines.filter(() => !random.oneIn(4)) }),
    () => ({ lines: lines.toReversed() }),
    () => ({ lines: [...lines, 'rubbish', '{"id":"fg-half"}'], options: { damaged: [Buffer.from([0xff])] } }),
    () => ({ lines: some((line) => edit(line, (json) => (json['title'] = word))) }),
    () => ({ lines: some((line) => edit(line, (json) => (json['priority'] = random.below(5)))) }),
    () => ({
      lines: some((line) =>
        edit(line, (json) => {
          delete json['_v'];
          json['updated_at'] = later;
          json['labels'] = [word];
        }),
      ),
    }),
    () => ({
      lines: some((line) =>
        edit(line, (json) => Object.assign(json, { status: 'closed', closed_at: later })),
      ),
    }),
    () => ({ lines: some((line) => edit(line, (json) => (json['created_by'] = 'eve'))) }),
    () => ({ lines: [...lines], options: { dry_run: true } }),
    () => ({ lines: [...lines], options: { path: 'git:other' } }),
    () => {
      const edited = some((line) => edit(line, (json) => (json['description'] = word)));
      const sides = [...lines.map(() => 'ours' as const), ...edited.map(() => 'theirs' as const)];
      return { lines: [...lines, ...edited], options: { sides } };
    },
  ];
  const { lines: spoilt, options = {} } = random.pick(ways)();
  return { lines: spoilt, options };
}

function writer(sut: SyncUnderTest) {
  sut.clock.advance(1_000);
  return { actor: { kind: 'system', name: 'fold', named: true }, now: sut.clock.now() } as const;
}

async function listIds(sut: SyncUnderTest): Promise<string[]> {
  return (await sut.store.listTasks({ sort: 'id', include_archived: true })).map(({ id }) => id);
}

/** To the byte what a file would hold, and what is remembered of the files that were read. */
async function hold(sut: SyncUnderTest): Promise<unknown> {
  const { store } = sut;
  const since = (await store.newestEvent()) - 5;
  return {
    changed: [await store.readChangedTasks(FILE, since), await store.readChangedHistory('history', since)],
    lines: await exportLines(sut),
    moves: await exportMoves(sut),
    marks: await store.readMarks([FILE, 'history', 'git:other']),
    conflicts: await store.listConflicts(undefined),
    ready: (await store.listReady({})).map(({ id }) => id),
    foreign: await store.listForeign(),
  };
}

/** What is shown of each task, and the whole feed. */
async function tell(sut: SyncUnderTest): Promise<unknown> {
  const { events } = await sut.store.readEvents({ after: 0, limit: 100_000 });
  const told = events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) as unknown }));
  return { told, everything: await everything(sut) };
}
