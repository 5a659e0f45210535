import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPlaceHere } from './forge-here.ts';
import { seededRandom, type Random } from './random.ts';
import { tempRepo, type TempRepo } from './temp-repo.ts';

export const ALONE_MODES = ['standard', 'branch', 'stealth'] as const;
export type AloneMode = (typeof ALONE_MODES)[number];

const INIT: Readonly<Record<AloneMode, readonly string[]>> = {
  standard: [],
  branch: ['--branch', 'forge-data'],
  stealth: ['--stealth'],
};

/** Few of each, so that nearly every value was there before: a value that comes again is the case that is easily mistaken. */
const VALUES = {
  title: ['T0', 'T1', 'T2'],
  description: ['', 'some', 'more'],
  priority: [0, 1, 2],
  type: ['task', 'bug'],
  status: ['open', 'closed'],
  label: [false, true],
  key: [null, 1, 2],
} as const;

type Field = keyof typeof VALUES;
type Value = (typeof VALUES)[Field][number];
type Line = Record<string, unknown>;
const FIELDS = Object.keys(VALUES) as Field[];
const BY_COMMAND: readonly Field[] = ['title', 'description', 'priority', 'type', 'status', 'label', 'key'];

/** Between a save and the next command: times of files are told apart by no less. */
export const BETWEEN_MS = 60;

type Cli = Awaited<ReturnType<typeof openPlaceHere>> & TempRepo;

async function openProject(mode: AloneMode): Promise<Cli> {
  const repo = await tempRepo();
  const place = await openPlaceHere(repo);
  await place.run('init', ...INIT[mode]);
  if (mode === 'standard') commitAll(repo, 'init');
  return { ...repo, ...place };
}

function commitAll(repo: Pick<TempRepo, 'git'>, message: string): void {
  repo.git('add', '--all');
  repo.git('commit', '--quiet', '--no-verify', '--allow-empty', '--message', message);
}

/**
 * One person, one task, one file: what was written last is what the task has, by hand or by command. Returns
 * the story up to the first value that is another; empty where all are right.
 */
export async function editAlone(
  seed: number,
  mode: AloneMode,
  { steps, pauses = [BETWEEN_MS] }: { readonly steps: number; readonly pauses?: readonly number[] },
): Promise<string[]> {
  const random = seededRandom(seed);
  await using project = await openProject(mode);
  const made = JSON.parse((await project.run('task', 'create', 'T0', '--json')).stdout) as { id: string };
  const file = join(project.path, '.forge', 'tasks.jsonl');
  const place: Place = { project, id: made.id, file, mode };
  await project.run('export');
  const model = new Map<Field, Value>(FIELDS.map((field) => [field, VALUES[field][0]]));
  model.set('priority', toSeen(await show(place), 'priority'));
  const told: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    told.push(await perform(place, model, random));
    await sleep(random.pick(pauses));
    const task = await show(place);
    const wrong = [...model].filter(([field, value]) => toSeen(task, field) !== value);
    if (wrong.length === 0) continue;
    const conflicts = (await project.run('conflicts')).stdout.trim();
    const named = wrong.map(
      ([field, value]) => `${field} is ${JSON.stringify(toSeen(task, field))}, not ${JSON.stringify(value)}`,
    );
    return [...told, ...named, conflicts];
  }
  return [];
}

interface Place {
  readonly project: Cli;
  readonly id: string;
  readonly file: string;
  readonly mode: AloneMode;
}

async function perform(place: Place, model: Map<Field, Value>, random: Random): Promise<string> {
  const { project, mode } = place;
  const roll = random.below(100);
  if (roll < 60) return editFile(place, model, random);
  if (roll < 80) return giveCommand(place, model, random);
  if (roll < 86) return run(project, 'export');
  if (roll < 90) return run(project, mode === 'stealth' ? 'export' : 'commit');
  if (roll < 92) return run(project, 'gc');
  if (roll < 94) return run(project, 'sync', '--offline');
  if (roll < 97) {
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(project.path, '.git', 'forge', `forge.db${end}`), { force: true });
    return 'the database is gone';
  }
  if (mode === 'standard') {
    const edit = editFile(place, model, random);
    commitAll(project, 'by hand');
    return `${edit}, committed before any command saw it`;
  }
  rmSync(place.file, { force: true });
  return `the file is gone, ${await run(project, 'export')}`;
}

async function run(project: Cli, ...args: string[]): Promise<string> {
  const { exit, stderr } = await project.run(...args);
  return `${args.join(' ')}${exit === 0 ? '' : ` failed: ${stderr.trim()}`}`;
}

/** As an editor or a script does it: the stamps stay or go, in one line or several, in place or by a new file. */
function editFile({ file, id }: Place, model: Map<Field, Value>, random: Random): string {
  const line = readTask(file, id);
  if (line === undefined) return 'no line';
  const edited: string[] = [];
  for (let count = random.oneIn(3) ? 2 : 1; count > 0; count -= 1) {
    const field = random.pick(FIELDS);
    const value: Value = random.pick<Value>(VALUES[field]);
    // Of a value that the file does not have yet the person knows nothing.
    if (toSeen(line, field) === value || toSeen(line, field) !== model.get(field)) continue;
    setValue(line, field, value);
    model.set(field, value);
    edited.push(`${field}=${JSON.stringify(value)}`);
  }
  const isBare = random.oneIn(3);
  if (isBare) delete line['_v'];
  const isPretty = random.oneIn(6);
  const isNew = random.oneIn(3);
  const text = `${JSON.stringify(line, null, isPretty ? 2 : undefined)}\n`;
  if (isNew) {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
  } else writeFileSync(file, text);
  const how = [
    isBare ? 'without stamps' : '',
    isPretty ? 'over several lines' : '',
    isNew ? 'as a new file' : '',
  ];
  return `by hand ${edited.join(' ')} ${how.filter((part) => part !== '').join(', ')}`;
}

/** The file has one task, in one line or over several. */
function readTask(file: string, id: string): Line | undefined {
  const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  const line = text === '' ? undefined : (JSON.parse(text) as Line);
  return line?.['id'] === id ? line : undefined;
}

async function giveCommand(
  { project, id }: Place,
  model: Map<Field, Value>,
  random: Random,
): Promise<string> {
  const field = random.pick(BY_COMMAND);
  const value: Value = random.pick<Value>(VALUES[field]);
  if (model.get(field) === value) return 'nothing';
  model.set(field, value);
  return run(project, ...toCommand(id, field, value));
}

function toCommand(id: string, field: Field, value: Value): string[] {
  if (field === 'status')
    return value === 'closed' ? ['task', 'close', id, '--reason', 'done'] : ['task', 'reopen', id];
  const update = ['task', 'update', id];
  if (field === 'label') return [...update, value === true ? '--label-add' : '--label-remove', 'l'];
  if (field === 'key')
    return [...update, ...(value === null ? ['--meta-unset', 'k'] : ['--meta-set', `k=${String(value)}`])];
  return [...update, `--${field}`, String(value)];
}

function setValue(line: Line, field: Field, value: Value): void {
  if (field === 'label') line['labels'] = value === true ? ['l'] : [];
  else if (field === 'key') line['metadata'] = value === null ? {} : { k: value };
  else line[field] = value;
}

function toSeen(task: Line, field: Field): Value {
  if (field === 'label') return (task['labels'] as readonly string[] | undefined)?.includes('l') === true;
  if (field === 'key') return ((task['metadata'] as Line | undefined)?.['k'] ?? null) as Value;
  return (task[field] ?? '') as Value;
}

async function show({ project, id }: Place): Promise<Line> {
  const { stdout } = await project.run('task', 'show', id, '--json');
  return JSON.parse(stdout) as Line;
}
