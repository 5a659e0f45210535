import { expect, it } from 'vitest';
import { ANN, tempEngine } from '../../tests/support/temp-engine.ts';
import { endPlanning } from './end-planning.ts';

it('a plan names what the task waits for, and of many only the first', async () => {
  await using engine = await tempEngine();
  const ids: string[] = [];
  for (let at = 0; at < 12; at += 1) ids.push((await engine.create(`Part ${at}`)).id);
  const waitFor = async (count: number): Promise<string | undefined> => {
    const task = await engine.create('Planned', { depends_on: ids.slice(0, count) });
    return (await endPlanning(engine.as(ANN), { task, state: 'planning' }))?.message;
  };
  expect(await waitFor(0)).toBeUndefined();
  expect((await waitFor(10))?.match(/fg-/g)).toHaveLength(10);
  expect(await waitFor(10)).not.toContain('more');
  expect(await waitFor(12)).toMatch(/^It was planned and waits for (?:fg-\S+, ){10}2 more$/);
});
