import type { Run, RunUsage } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import {
  addAmounts,
  countsOthers,
  describeCap,
  findReachedCap,
  hasCap,
  sumRuns,
  toAmounts,
  toCaps,
  type Amounts,
  type Caps,
  type CapScope,
} from '#domain/caps.ts';
import {
  countUsage,
  findSessionCost,
  hasBegunAnew,
  keepCounted,
  NO_USAGE,
  type SaidUsage,
} from '#domain/count-usage.ts';
import { findPrice } from '#domain/price-table.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { WorkPlace } from './work.ts';

interface Metered {
  readonly run: Run;
  readonly tell: (entry: TranscriptEntry) => void;
}

/** Counts what a run uses, from its start to its end, and says when a cap is reached. */
export async function openRunMeter(place: WorkPlace, metered: Metered): Promise<RunMeter> {
  const runs = await place.store.listRuns({ attempt_id: metered.run.attempt_id });
  const meter = new RunMeter(place, metered, findSessionCost(runs, metered.run));
  await meter.refresh();
  return meter;
}

export class RunMeter {
  readonly #place: WorkPlace;
  readonly #metered: Metered;
  /** What the session had cost before this run; nothing once its total has begun anew. */
  #before_usd: number;
  readonly #began: string;
  #usage: RunUsage = NO_USAGE;
  #others: Readonly<Partial<Record<CapScope, Amounts>>> = {};
  #caps: Caps;
  /** By its last report alone. */
  #said: RunUsage = NO_USAGE;
  #isToldUnknown = false;
  #isToldRefused = false;

  constructor(place: WorkPlace, metered: Metered, before_usd: number) {
    this.#place = place;
    this.#metered = metered;
    this.#before_usd = before_usd;
    this.#caps = toCaps(place.settings());
    this.#began = metered.run.started_at ?? toIso(place.clock.now());
  }

  /** Other runs are at work too, and a person may have changed the caps. */
  async refresh(): Promise<void> {
    const { store, clock, settings } = this.#place;
    const { run } = this.#metered;
    const now = clock.now();
    this.#caps = toCaps(settings());
    const queries = {
      task: { task_id: run.task_id },
      night: { since: toIso(now - LIMITS.budget_window_ms) },
      project: {},
    };
    const entries = await Promise.all(
      (['task', 'night', 'project'] as const)
        .filter((scope) => countsOthers(this.#caps, scope))
        .map(async (scope) => {
          const runs = await store.listRuns(queries[scope]);
          return [
            scope,
            sumRuns(
              runs.filter(({ id }) => id !== run.id),
              now,
            ),
          ] as const;
        }),
    );
    this.#others = Object.fromEntries(entries);
  }

  /** What the program says now. It is kept at once: other runs count it, and a crash does not lose it. */
  note(said: SaidUsage, when: 'working' | 'turn_end'): void {
    const { store } = this.#place;
    const { run, tell } = this.#metered;
    const usage = this.count(said);
    store.noteRun({ id: run.id, usage }).catch(() => undefined);
    if (when === 'turn_end') tell({ kind: 'usage', usage });
    this.#tellUnknown();
    this.#tellRefused(said);
  }

  count(said: SaidUsage): RunUsage {
    const { prices } = this.#place.settings();
    if (hasBegunAnew(said, this.#before_usd)) this.#before_usd = 0;
    this.#said = countUsage(said, {
      before_usd: this.#before_usd,
      findPrice: (model) => findPrice(model, prices),
    });
    this.#usage = keepCounted(this.#usage, this.#said);
    return this.#usage;
  }

  /** Why the run may not go on, in words; undefined while it may. */
  findReached(): string | undefined {
    const now = this.#place.clock.now();
    const own = toAmounts({ usage: this.#usage, started_at: this.#began, ended_at: null }, now);
    const spent = { run: own, ...mapAmounts(this.#others, (others) => addAmounts(others, own)) };
    const reached = findReachedCap(this.#caps, spent);
    return reached === undefined ? undefined : describeCap(reached, this.#metered.run);
  }

  /** The last word on it, also of a program that never said anything of what it used. */
  end(said: SaidUsage): RunUsage {
    const usage = this.count(said);
    this.#tellUnknown();
    this.#tellRefused(said);
    return usage;
  }

  #tellUnknown(): void {
    const text = this.#findUnknown();
    if (text === undefined || this.#isToldUnknown) return;
    this.#isToldUnknown = true;
    this.#note(text);
  }

  #tellRefused({ refused }: SaidUsage): void {
    if (refused === undefined || this.#isToldRefused) return;
    this.#isToldRefused = true;
    const { agent } = this.#metered.run;
    this.#note(`${agent} says that it used ${refused}: that is not believed, and counts against no cap`);
  }

  #note(text: string): void {
    const { run, tell } = this.#metered;
    tell({ kind: 'note', text });
    this.#place.watch({ kind: 'note', task_id: run.task_id, attempt_id: run.attempt_id, text });
  }

  #findUnknown(): string | undefined {
    const { agent } = this.#metered.run;
    const lacksTokens = this.#said.input_tokens === null;
    if (lacksTokens && hasCap(this.#caps, 'tokens'))
      return `What ${agent} uses is unknown: no cap in USD or tokens can stop it; budget_minutes can`;
    if (this.#said.cost_usd !== null || !hasCap(this.#caps, 'usd')) return undefined;
    const way = lacksTokens ? 'budget_minutes' : 'budget_tokens';
    return `The cost of ${agent} is unknown: the cap in USD cannot stop it; ${way} can`;
  }
}

function mapAmounts(
  amounts: Readonly<Partial<Record<CapScope, Amounts>>>,
  map: (one: Amounts) => Amounts,
): Partial<Record<CapScope, Amounts>> {
  return Object.fromEntries(Object.entries(amounts).map(([scope, one]) => [scope, map(one)]));
}
