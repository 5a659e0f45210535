import type { OutputOf } from '#contract/declare.ts';
import type { listClis as declaration } from '#contract/workspace-operations.ts';
import type { SuspendedAgent } from '#contract/suspension.ts';
import { mapSuspended } from '#engine/list-suspended.ts';
import { findClisHere } from '#executors/find-clis-here.ts';
import { listAgents } from '#sync/agent-identities.ts';
import { describeSuspended } from './agent-entry.ts';
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
  text: (clis, view) =>
    tableText<Row>(
      view,
      [
        { header: 'EXECUTOR', value: ({ executor }) => executor, style: (text) => style(view, 'bold', text) },
        { header: 'VERSION', value: ({ version }) => version ?? '-' },
        { header: 'ANSWERS', value: ({ answers }) => (answers ? 'yes' : 'no') },
        { header: 'PATH', value: ({ path }) => path ?? '-', flexible: 'first', minimum: 12 },
        {
          header: 'PROBLEM',
          value: ({ problem, found, install, suspended }) =>
            [
              problem === null ? [] : found || install === null ? problem : `${problem}; ${install}`,
              suspended.map((one) => `${one.agent} is ${describeSuspended(one)}; ${one.command}`),
            ]
              .flat()
              .join('; '),
          flexible: true,
          minimum: 20,
        },
      ],
      clis,
    ),
});
