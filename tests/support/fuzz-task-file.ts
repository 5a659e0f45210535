import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { forgeProjectHere } from './forge-here.ts';
import { mutateLine, toGoodLine } from './mutated-lines.ts';
import { seededRandom } from './random.ts';

/** Every so many lines one that is whole. */
const GOOD_EVERY = 50;

/**
 * A task file of that many spoiled lines with whole ones between them, by its seed: it is taken in without a crash, the
 * tasks of the whole lines are all there, and no line that is not even JSON is gone from the file that is written next.
 */
export async function fuzzTaskFile(seed: number, count: number): Promise<void> {
  const random = seededRandom(seed);
  const good: string[] = [];
  const lines = Array.from({ length: count }, (_, at) => {
    const spoiled = mutateLine(toGoodLine(`fg-m${at}`), random);
    if (at % GOOD_EVERY !== 0) return [spoiled];
    good.push(`fg-good${at}`);
    return [spoiled, toGoodLine(`fg-good${at}`)];
  }).flat();
  await using project = await forgeProjectHere();
  const path = join(project.path, '.forge', 'tasks.jsonl');
  writeFileSync(path, `${lines.join('\n')}\n`);
  const listed = await project.run('task', 'list', '--all', '--json', '--fields', 'id', '--limit', '100000');
  expect({ seed, exit: listed.exit, said: listed.exit === 0 ? '' : listed.stdout }).toEqual({
    seed,
    exit: 0,
    said: '',
  });
  const ids = new Set((JSON.parse(listed.stdout) as { id: string }[]).map(({ id }) => id));
  expect({ seed, lost: good.filter((id) => !ids.has(id)) }).toEqual({ seed, lost: [] });
  const written = await project.run('export');
  expect({ seed, exit: written.exit }).toEqual({ seed, exit: 0 });
  expect({ seed, gone: findGone(lines, readFileSync(path, 'utf8')).slice(0, 5) }).toEqual({ seed, gone: [] });
}

/** So many lines an object may go over to be looked for. */
const SPAN = 6;

/** Lines that no program could have read, also not as parts of an object over several lines, and that the file has no more. */
export function findGone(lines: readonly string[], after: string): string[] {
  const kept = new Set(after.split('\n'));
  return lines.filter((line, at) => {
    if (kept.has(line) || line.trim() === '' || isJson(line)) return false;
    // The beginning of a list, and the mark of a side of a conflict, with its label.
    return !/^(?:\[|={7}|(?:<{7}|>{7})(?: .*)?)$/.test(line.trim()) && !isPart(lines, at);
  });
}

function isPart(lines: readonly string[], at: number): boolean {
  for (let from = Math.max(0, at - SPAN); from <= at; from += 1) {
    for (let to = Math.max(at + 1, from + 2); to <= at + SPAN; to += 1)
      if (areObjects(lines.slice(from, to).join('\n'))) return true;
  }
  return false;
}

/** Whether a text is nothing but objects, one after another or in a list: these are read one by one. */
function areObjects(text: string): boolean {
  const rest = text.replace(/^[[\],\s]+/, '');
  if (rest === '') return true;
  for (let end = rest.indexOf('}'); end >= 0; end = rest.indexOf('}', end + 1))
    if (isJson(rest.slice(0, end + 1))) return areObjects(rest.slice(end + 1));
  return false;
}

function isJson(line: string): boolean {
  try {
    // Objects in a list that goes over several lines are read one by one.
    JSON.parse(line.replace(/^\[+/, '').replace(/[\],]+$/, ''));
    return true;
  } catch {
    return false;
  }
}
