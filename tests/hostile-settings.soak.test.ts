import { it } from 'vitest';
import { HOSTILE_SETTINGS } from './support/hostile-settings.ts';
import { expectNothingRun } from './support/hostile-repositories.ts';

it.for(HOSTILE_SETTINGS.map((hostile) => [hostile.name, hostile] as const))(
  '[B1] no verb runs, changes or sends anything for a repository with %s',
  ([, hostile], { annotate }) => expectNothingRun(hostile, annotate),
);
