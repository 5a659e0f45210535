import type { OutputOf } from '#contract/declare.ts';
import type { listClis as declaration } from '#contract/workspace-operations.ts';
import type { SuspendedAgent } from '#contract/suspension.ts';
import { mapSuspended } from '#engine/list-suspended.ts';
import { findClisHere } from '#executors/find-clis-here.ts';
import { escapeLine } from '#kernel/text.ts';
import { listAgents } from '#sync/agent-identities.ts';
import { suspendedLines } from './agent-entry.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

type Row = OutputOf<typeof declaration>[number];

export const cliList = implement<typeof declaration>({
  async run({ machine: { env }, place, cwd, clock }) {
    const all = mapSuspended({ place, cwd, now: clock.now() });
    const agents = all.size === 0 ? [] : listAgents(place.home);
    const listOf = (executor: string): SuspendedAgent[] =>
      agents.flatMap(({ name, profile }) => (profile?.executor === executor ? (all.get(name) ?? []) : []));
    return (await findClisHere({ env })).map((cli) => ({ ...cli, suspended: listOf(cli.executor) }));
  },
  text(clis, view) {
    const table = tableText<Row>(
      view,
      [
        { header: 'EXECUTOR', value: ({ executor }) => executor, style: (text) => style(view, 'bold', text) },
        { header: 'VERSION', value: ({ version }) => version ?? '-' },
        { header: 'ANSWERS', value: ({ answers }) => (answers ? 'yes' : 'no') },
        { header: 'PATH', value: ({ path }) => path ?? '-', flexible: 'first', minimum: 12 },
        { header: 'PROBLEM', value: ({ problem }) => problem ?? '', flexible: true, minimum: 20 },
      ],
      clis,
    );
    // Commands are told whole, below: in a table they would be cut.
    const installs = clis.flatMap(({ executor, found, problem, install }) =>
      problem === null || found || install === null ? [] : [escapeLine(`${executor}: ${install}`)],
    );
    const suspended = clis.flatMap((cli) => cli.suspended.flatMap((one) => suspendedLines(one, view)));
    return [table, ...installs, ...suspended].join('\n');
  },
});
