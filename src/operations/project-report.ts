import type { Report, projectReport as declaration } from '#contract/report-operations.ts';
import { compileReport, listReported } from '#domain/compile-report.ts';
import { parseMoment } from '#domain/parse-moment.ts';
import { listSuspended } from '#engine/list-suspended.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { inboxList } from './inbox-list.ts';
import { LOCAL_DAYS } from './local-days.ts';
import { implement } from './operation.ts';
import { readBriefs } from './read-briefs.ts';
import { reportText } from './report-text.ts';

export const projectReport = implement<typeof declaration>({
  async run(ctx, input) {
    const { store } = ctx.project;
    const now = ctx.clock.now();
    const { since, until } = readTimes(input, now);
    const [merged, all, inbox, work] = await Promise.all([
      store.listAttempts({ state: 'merged' }),
      store.listRuns({ since }),
      inboxList.run(ctx, {}),
      store.listOpenWork(),
    ]);
    const runs = all.filter(({ created_at }) => created_at < until);
    const facts = { since, until, now, merged, runs, inbox };
    const at_work = new Set(work.map(({ task_id }) => task_id));
    const briefs = await readBriefs(store, listReported(facts));
    const tasks = new Map(briefs.map((task) => [task.id, task]));
    const suspended = await listSuspended(store, { home: ctx.place.home, now });
    return { ...compileReport({ ...facts, at_work, tasks }), suspended };
  },
  text: reportText,
});

function readTimes(
  {
    since = 'yesterday',
    until = 'now',
  }: { readonly since?: string | undefined; readonly until?: string | undefined },
  now: number,
): Pick<Report, 'since' | 'until'> {
  const [from, to] = [since, until].map((text) => parseMoment(text, { now, days: LOCAL_DAYS }));
  if (from === undefined || to === undefined || from >= to) {
    throw new ForgeError('invalid_input', `There is no time between --since ${since} and --until ${until}`, {
      hint: 'forge report --since yesterday',
      details: { since, until },
    });
  }
  return { since: toIso(from), until: toIso(to) };
}
