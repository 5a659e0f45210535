import type { listProfiles as declaration } from '#contract/agent-operations.ts';
import { listProfiles } from '#sync/agent-profiles.ts';
import { describeProfile, toProfileEntry } from './agent-entry.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

export const profileList = implement<typeof declaration>({
  run: async (ctx) => listProfiles(ctx.place.home).map(toProfileEntry),
  text(profiles, view) {
    if (profiles.length === 0) return 'No profiles. Add one: forge profile add <name> --executor <kind>';
    return tableText(
      view,
      [
        { header: 'NAME', value: ({ name }) => name, style: (text) => style(view, 'bold', text) },
        { header: 'EXECUTOR', value: ({ profile }) => describeProfile(profile) },
        { header: 'DESCRIPTION', value: ({ description }) => description, flexible: true, minimum: 24 },
      ],
      profiles,
    );
  },
});
