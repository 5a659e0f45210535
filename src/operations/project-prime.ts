import type { primeAgent } from '#contract/onboarding-operations.ts';
import type { Task } from '#contract/task.ts';
import { cutToBytes } from '#domain/token-estimate.ts';
import { LIMITS } from '#kernel/limits.ts';
import { implement } from './operation.ts';
import { type Brief, fitRows, PRIME_COMMANDS, toPrimeText } from './prime-text.ts';

/**
 * There is no file in the repository (such as `.forge/prime.md`) that adds to this text: what agents are told to do
 * is not for whoever can push to decide.
 */
export const projectPrime = implement<typeof primeAgent>({
  async run(ctx) {
    const { store, config } = ctx.project;
    const { name, kind, named } = await ctx.actor();
    const { excludeTypes } = config.ready;
    const limit = LIMITS.prime_rows;
    const mine = await store.listTasks({ status: 'in_progress', assignee: name, limit });
    const ready = await store.listReady({ assignee: name, exclude_types: excludeTypes, limit });
    const stats = await store.readStats({ now: ctx.clock.now(), exclude_types: excludeTypes });
    const own = stats.assigned.find((row) => row.assignee === name);
    return fitRows({
      project: { name: config.name, id_prefix: config.idPrefix },
      actor: { name, kind, named },
      mine: mine.map(toGlance),
      ready: ready.map((task) => ({ ...toGlance(task), reserved: task.assignee !== null })),
      counts: {
        mine: own?.in_progress ?? 0,
        reserved: own?.open ?? 0,
        ready: stats.ready,
        blocked: stats.blocked,
        parked: stats.parked,
        open: stats.by_status['open'] ?? 0,
        in_progress: stats.by_status['in_progress'] ?? 0,
        closed: stats.by_status['closed'] ?? 0,
      },
      commands: PRIME_COMMANDS,
    });
  },
  text: toPrimeText,
});

function toGlance({ id, priority, type, title }: Task): Brief['mine'][number] {
  return { id, priority, type, title: cutToBytes(title, LIMITS.prime_title_bytes) };
}
