import type { Clone } from './git-clones.ts';
import type { Random } from './random.ts';
import { FIELDS, labelsIn, valueIn, type Field, type Line, type Value } from './script-model.ts';
import type { Step } from './script-steps.ts';
import { FILE, findTask, forge, readLines, setValue, type Place, type ScriptWorld } from './script-world.ts';

const COMMANDS = [
  'title',
  'title',
  'title',
  'description',
  'description',
  'priority',
  'metadata.k',
  'add a label',
  'add a label',
  'remove a label',
  'comment',
  'create',
  'close',
  'reopen',
] as const;

export async function createTask(world: ScriptWorld, place: Place, title: string): Promise<void> {
  const { exit, stdout } = await forge(world, place, 'task', 'create', title, '--json');
  if (exit !== 0) throw new Error(stdout);
  const line = JSON.parse(stdout) as Line;
  world.tasks.push(line.id);
  const written = { task: line.id, clone: place.name, how: 'created' };
  world.model.wrote({ ...written, field: 'title' }, title, undefined);
  world.model.wrote({ ...written, field: 'priority' }, line['priority'] as number, undefined);
}

export async function giveCommand(
  world: ScriptWorld,
  place: Place,
  step: Step,
  random: Random,
): Promise<void> {
  const { model } = world;
  const id = random.pick(world.tasks);
  const task = await findTask(place, id);
  // A clone that has not heard of it yet.
  if (task === undefined) return;
  const what = random.pick(COMMANDS);
  const run = async (...args: string[]): Promise<boolean> => (await forge(world, place, ...args)).exit === 0;
  switch (what) {
    case 'create':
      return createTask(world, place, `${place.name}${step.number}`);
    case 'comment': {
      const text = `${place.name}${step.number}c`;
      if (await run('task', 'comment', id, text)) model.commented(id, text);
      return;
    }
    case 'close':
    case 'reopen': {
      const flags = what === 'close' ? ['--reason', 'done'] : [];
      const status = what === 'close' ? 'closed' : 'open';
      if (task['status'] !== status && (await run('task', what, id, ...flags)))
        model.moved(id, place.name, status);
      return;
    }
    case 'add a label':
    case 'remove a label': {
      const change = chooseLabel(world, place, { step, random, line: task, isAdded: what === 'add a label' });
      if (change === undefined) return;
      const flag = change.what === 'added' ? '--label-add' : '--label-remove';
      if (await run('task', 'update', id, flag, change.label)) model.labels.changed(change);
      return;
    }
    case 'title':
    case 'description':
    case 'priority':
    case 'metadata.k': {
      const value = chooseValue(world, { step, random, line: task, field: what });
      const flags = what === 'metadata.k' ? ['--meta-set', `k=${value}`] : [`--${what}`, String(value)];
      if (await run('task', 'update', id, ...flags))
        model.wrote({ task: id, field: what, clone: place.name, how: 'command' }, value, valueIn(task, what));
    }
  }
}

interface Choice {
  readonly step: Step;
  readonly random: Random;
  readonly line: Line;
}

/** A value that no other step writes; each third time one that stood there before. */
function chooseValue(world: ScriptWorld, { step, random, line, field }: Choice & { field: Field }): Value {
  const saw = valueIn(line, field);
  const isAgain = random.oneIn(3);
  const roll = random.below(1000);
  const before = world.model.valuesOf({ task: line.id, field }).filter((value) => value !== saw);
  if (field === 'priority') return [0, 1, 2, 3, 4].filter((value) => value !== saw)[roll % 4] ?? 0;
  if (isAgain && before.length > 0) return before[roll % before.length] ?? '';
  return `${step.who}${step.number}${field === 'title' ? '' : field[0]}`;
}

function chooseLabel(
  world: ScriptWorld,
  place: { readonly name: string },
  { step, random, line, isAdded }: Choice & { isAdded: boolean },
) {
  const change = { task: line.id, clone: place.name };
  const labels = labelsIn(line);
  const isAgain = random.oneIn(3);
  const roll = random.below(1000);
  if (!isAdded) {
    const label = labels[roll % Math.max(labels.length, 1)];
    return label === undefined ? undefined : { ...change, label, what: 'removed' as const };
  }
  const again = isAgain ? world.model.labels.findRemoved(line.id, place.name) : undefined;
  const label = again ?? `${step.who}${step.number}l`;
  return labels.includes(label) ? undefined : { ...change, label, what: 'added' as const };
}

const EDITS = [...FIELDS, 'title', 'title', 'description', 'add a label', 'remove a label'] as const;
/** What a person or a script does with the stamps. */
const STYLES = ['keeps', 'keeps', 'keeps', 'drops', 'drops, new time'] as const;

/** One value of one line, as an editor or a script writes it. Says whether there was something to edit. */
export function editFile(
  world: ScriptWorld,
  place: Pick<Place, 'clone' | 'pending'> & { readonly name: string },
  step: Step,
  random: Random,
): boolean {
  const lines = readLines(place.clone);
  // In the order in which they were made: ids, and with them the order in the file, are others each time.
  const mine = world.tasks.flatMap((task) => lines?.find(({ id }) => id === task) ?? []);
  if (lines === undefined || mine.length === 0) return false;
  const line = random.pick(mine);
  const what = random.pick(EDITS);
  const how = random.pick(STYLES);
  const written = { task: line.id, clone: place.name, how: `edit, ${how} stamps` };
  let edited: Line;
  if (what === 'add a label' || what === 'remove a label') {
    const isAdded = what === 'add a label';
    const change = chooseLabel(world, place, { step, random, line, isAdded });
    if (change === undefined) return false;
    const others = labelsIn(line).filter((label) => label !== change.label);
    edited = { ...line, labels: isAdded ? [...others, change.label] : others };
    place.pending.push(world.model.labels.changed(change));
    world.told.push(`   ${place.name} edits ${line.id}: label ${change.label} ${change.what}, ${how} stamps`);
  } else {
    const saw = valueIn(line, what);
    const value = chooseValue(world, { step, random, line, field: what });
    edited = setValue(line, what, value);
    place.pending.push(
      world.model.edited({ ...written, field: what }, { value, saw, unseen: place.pending }),
    );
    world.told.push(`   ${place.name} edits ${line.id}: ${what} ${String(saw)} -> ${value}, ${how} stamps`);
  }
  writeLine(place.clone, toStyle(edited, how));
  return true;
}

function toStyle(line: Line, how: (typeof STYLES)[number]): Line {
  if (how === 'keeps') return line;
  const { _v, ...bare } = line;
  return how === 'drops' ? (bare as Line) : ({ ...bare, updated_at: new Date().toISOString() } as Line);
}

/** The other lines stay as they are. */
function writeLine(clone: Clone, line: Line): void {
  const texts = clone.read(FILE).split('\n');
  const written = texts.map((text) => (text.includes(`"id":"${line.id}"`) ? JSON.stringify(line) : text));
  clone.write(FILE, written.join('\n'));
}
