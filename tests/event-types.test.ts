import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EVENT_TYPES } from '#contract/event-types.ts';

const SRC = join(import.meta.dirname, '../src');
const NAME = /'((?:task|dependency|attempt|run|review|merge|agent|project|daemon|replica)\.[a-z_]+)'/g;

it('[L9] every name that the store writes to the feed can be asked for, and no other', () => {
  const written = globSync(['store/**/*.ts', 'domain/*.ts', 'engine/**/*.ts'], { cwd: SRC })
    // Files of runners have names of the same form.
    .filter((path) => !/\.test\.ts$|behaviour|runner-files/.test(path))
    .flatMap((path) =>
      [...readFileSync(join(SRC, path), 'utf8').matchAll(NAME)].map(([, name = '']) => name),
    );
  expect([...new Set(written)].toSorted()).toEqual(EVENT_TYPES.toSorted());
});
