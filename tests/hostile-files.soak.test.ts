import { it } from 'vitest';
import { HOSTILE_FILES } from './support/hostile-files.ts';
import { expectNothingRun } from './support/hostile-repositories.ts';

it.for(HOSTILE_FILES.map((hostile) => [hostile.name, hostile] as const))(
  '[B1] no verb runs, changes or sends anything for a repository with %s',
  ([, hostile], { annotate }) => expectNothingRun(hostile, annotate),
);
