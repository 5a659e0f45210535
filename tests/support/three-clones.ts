import { forgeClones } from './git-clones.ts';

/** Two clones with Forge, `a` and `b`, and `g` of a person without; one task, which is pushed. */
export async function threeClones() {
  const world = await forgeClones(['a']);
  const { a } = world.clone;
  const { id } = await a.create('T0');
  await a.commitTasks();
  a.git('push', '--quiet', 'origin', 'HEAD:main');
  const b = await world.addClone('b');
  const g = await world.addClone('g', { init: false });
  return { world, a, b, g, id };
}
