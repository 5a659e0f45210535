import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { forgeProjectHere } from '../../tests/support/forge-here.ts';
import { openExamined } from './open-examined.ts';

it.for([
  [{ fix: false, rebuild: true }, 'The task database was made anew from the local replica: 1 task'],
  [{ fix: false, rebuild: false }, undefined],
] as const)(
  'a database that is made anew tells how far it is, and no other does: %j',
  async ([how, said]) => {
    await using project = await forgeProjectHere();
    await project.create('one');
    const told: string[] = [];
    const steps: [number, number][] = [];
    const newer = new ForgeError('schema_newer', 'It is not opened here');
    const opened = await openExamined(how, {
      paths: {
        store: { folder: join(project.path, '.git', 'forge') },
        common_dir: join(project.path, '.git'),
      },
      notice: (line) => void told.push(line),
      meter: (...step) => void steps.push(step),
      open: () => Promise.reject(newer),
    });
    expect(opened).toBe(newer);
    expect(told[0]).toBe(said);
    // So few tasks are through at once: what is told is the end.
    expect(steps).toEqual(said === undefined ? [] : [[0, 0]]);
  },
);
