import type { ConflictEntry } from '#domain/decide-settlement.ts';
import { commitAll, finish, mergeFeature, pull, push, toMain } from './script-git.ts';
import type { EndState } from './script-model.ts';
import { FILE, forge, isBranchMode, readLines, type Place, type ScriptWorld } from './script-world.ts';

const ROUNDS = 6;

/** All exchange until nothing changes. `wrong` is what is not as it should be in the end, for any writes. */
export async function endHistory(world: ScriptWorld): Promise<{ states: EndState[]; wrong: string[] }> {
  const places = Object.values(world.places);
  for (const place of places) {
    finish(world, place);
    await forge(world, place, 'ready');
    toMain(world, place);
    mergeFeature(world, place);
  }
  const wrong = await exchange(world, places);
  const states: EndState[] = [];
  for (const place of places) {
    const { stdout } = await place.clone.run('conflicts', '--json');
    const lines = readLines(place.clone);
    if (lines === undefined) wrong.push(`${place.name}: git left conflicts in the file`);
    states.push({
      clone: place.name,
      tasks: new Map((lines ?? []).map((line) => [line.id, line])),
      conflicts: JSON.parse(stdout) as ConflictEntry[],
    });
    wrong.push(...(await listDifferences(place)));
  }
  return { states, wrong };
}

async function exchange(world: ScriptWorld, places: readonly Place[]): Promise<string[]> {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const place of places) {
      await forge(world, place, 'sync');
      await forge(world, place, 'commit');
      if (isBranchMode(world)) await forge(world, place, 'export');
      else {
        pull(world, place, '--no-rebase');
        await forge(world, place, 'commit');
        commitAll(world, place);
        push(world, place);
      }
    }
    const texts = places.map(({ clone }) => clone.read(FILE));
    if (new Set(texts).size === 1) return [];
  }
  return [`the clones do not agree after ${ROUNDS} rounds`];
}

/** The store of a clone has what its file has. */
async function listDifferences({ name, clone }: Place): Promise<string[]> {
  const { stdout } = await clone.run('export', '--json');
  const { tasks } = JSON.parse(stdout) as { tasks: { changed: boolean } };
  return tasks.changed ? [`${name}: the file is not what the store has`] : [];
}
