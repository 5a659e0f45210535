import type { listAgents as declaration } from '#contract/agent-operations.ts';
import { mapSuspended } from '#engine/list-suspended.ts';
import { listAgents } from '#sync/agent-identities.ts';
import { describeProfile, suspendedLines, toAgentEntry } from './agent-entry.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

export const agentList = implement<typeof declaration>({
  async run(ctx) {
    const suspended = mapSuspended({ place: ctx.place, cwd: ctx.cwd, now: ctx.clock.now() });
    return listAgents(ctx.place.home).map((agent) => toAgentEntry(agent, suspended));
  },
  text(agents, view) {
    if (agents.length === 0) return 'No agents. Add one: forge agent add <name>';
    const table = tableText(
      view,
      [
        { header: 'NAME', value: ({ name }) => name, style: (text) => style(view, 'bold', text) },
        { header: 'SINCE', value: ({ created_at }) => created_at.slice(0, 10) },
        {
          header: 'EXECUTOR',
          value: ({ profile }) => (profile === null ? '-' : describeProfile(profile)),
        },
        {
          header: 'STATE',
          value: ({ paused_at, suspended }) =>
            paused_at !== null ? 'paused' : suspended !== null ? 'suspended' : '',
        },
        { header: 'DESCRIPTION', value: ({ description }) => description, flexible: true, minimum: 24 },
      ],
      agents,
    );
    const told = agents.flatMap(({ suspended }) =>
      suspended === null ? [] : suspendedLines(suspended, view),
    );
    return [table, ...told].join('\n');
  },
});
