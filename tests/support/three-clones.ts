import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { copyClones, forgeClones } from './git-clones.ts';

/** Two clones with Forge, `a` and `b`, and `g` of a person without; one task, which is pushed. */
export async function threeClones() {
  template ??= makeTemplate();
  const { folder, id } = await template;
  const world = await copyClones(folder, ['a', 'b', 'g']);
  return { world, ...world.clone, id };
}

/** To make them takes a hundred processes, to copy them six. */
let template: ReturnType<typeof makeTemplate> | undefined;

async function makeTemplate() {
  const world = await forgeClones(['a']);
  process.once('exit', () => rmSync(dirname(world.folder), { recursive: true, force: true }));
  const { a } = world.clone;
  const { id } = await a.create('T0');
  await a.commitTasks();
  a.git('push', '--quiet', 'origin', 'HEAD:main');
  await world.addClone('b');
  await world.addClone('g', { init: false });
  return { folder: world.folder, id };
}
