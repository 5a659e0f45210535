import type { OutputOf } from '#contract/declare.ts';
import type { listSkills as declaration } from '#contract/resource-operations.ts';
import { listSkills } from '#sync/skills.ts';
import { implement } from './operation.ts';
import { tableText } from './table-text.ts';

type Row = OutputOf<typeof declaration>[number];

export const skillList = implement<typeof declaration>({
  run: ({ project: { paths }, place }) => listSkills(paths.forge_dir, place.home),
  text(skills, view) {
    if (skills.length === 0) return 'No skill. One is a folder with a SKILL.md in .forge/skills.';
    return tableText<Row>(
      view,
      [
        { header: 'NAME', value: ({ name }) => name },
        { header: 'FROM', value: ({ from }) => from },
        { header: 'DESCRIPTION', value: ({ description }) => description, flexible: true },
      ],
      skills,
    );
  },
});
