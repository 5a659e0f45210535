import { cpSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openStore } from '#store/open-store.ts';
import { openPlace, type ForgePlace, type ProgramResult } from './forge-cli.ts';
import { createCliHere } from './forge-here.ts';
import { findLitter, readTaskFiles, readTaskRows, type KillScenario } from './strace-sweep.ts';
import { tempFolder, tempRepo } from './temp-repo.ts';

/** A repository that copies are made of, and how to run commands in any of them. */
export interface Workshop extends AsyncDisposable {
  readonly place: ForgePlace;
  readonly template: string;
  /** In this process: what a sweep hurts is a program of its own, what looks at it afterwards need not be. */
  readonly forge: (cwd: string, ...args: string[]) => Promise<ProgramResult>;
  /** The same, and it has to succeed: its answer. */
  readonly must: (cwd: string, ...args: string[]) => Promise<string>;
  readonly git: (cwd: string, ...args: string[]) => Promise<ProgramResult>;
}

/** With `tasks` tasks that are in the store, in the files and in a commit. */
export async function openWorkshop(script: string, options: { tasks: number }): Promise<Workshop> {
  const shop = await openBareWorkshop(script);
  const { template, must, git } = shop;
  await must(template, 'init');
  writeFileSync(join(template, '.forge', 'tasks.jsonl'), toLines(options.tasks).join(''));
  await must(template, 'export');
  const made = JSON.parse(await must(template, 'task', 'list', '--json', '--fields', 'id')) as unknown[];
  if (made.length !== options.tasks) throw new Error(`only ${made.length} of ${options.tasks} tasks came in`);
  await git(template, 'add', '--all');
  await git(template, 'commit', '--quiet', '--no-verify', '-m', 'base');
  return shop;
}

/** A git repository that is no project yet. */
export async function openBareWorkshop(script: string): Promise<Workshop> {
  const repo = await tempRepo({ folder: 'template' });
  const place = await openPlace(repo);
  // An init writes down which program the hooks and the merge driver are to start.
  const forge: Workshop['forge'] = (cwd, ...args) =>
    args[0] === 'init'
      ? place.exec(process.execPath, [script, ...args], { cwd })
      : createCliHere(place, cwd).run(...args);
  return {
    place,
    template: repo.path,
    forge,
    async must(cwd, ...args) {
      const { exit, stdout, stderr } = await forge(cwd, ...args);
      if (exit !== 0) throw new Error(`forge ${args.join(' ')} ended with ${exit}: ${stdout}${stderr}`);
      return stdout;
    },
    git: (cwd, ...args) => place.exec('git', args, { cwd }),
    [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose](),
  };
}

export function toTaskId(n: number): string {
  return `fg-${(46_656 + n).toString(36)}`;
}

/** Tasks as the seed's examples have them: without stamps, with what they depend on and their words. */
function toLines(count: number): string[] {
  const at = '2026-02-10T09:00:00.000Z';
  return Array.from({ length: count }, (_, n) => {
    const task = {
      id: toTaskId(n),
      title: `Task ${n}`,
      description: 'What is to be done, and why. '.repeat(3),
      status: 'open',
      priority: n % 5,
      type: 'task',
      labels: [`l${n % 7}`, 'all'],
      ...(n > 0 && n % 3 === 0 && { dependencies: [{ id: toTaskId(n - 1), type: 'blocks' }] }),
      created_at: at,
      created_by: 'Ada',
      updated_at: at,
    };
    return `${JSON.stringify(task)}\n`;
  });
}

/** The store is ahead of both files. */
export async function exportScenario(script: string, tasks: number): Promise<OpenScenario> {
  const shop = await openWorkshop(script, { tasks });
  const { template } = shop;
  await changeTasks(shop, template, 'export');
  return toScenario(shop, { script, command: ['export'] });
}

/** The files are ahead of the store: another clone's changes, an edit by hand, a line that is no task. */
export async function foldScenario(script: string, tasks: number): Promise<OpenScenario> {
  const shop = await openWorkshop(script, { tasks });
  const { template, must } = shop;
  const other = join(dirname(template), 'other');
  cpSync(template, other, { recursive: true, verbatimSymlinks: true });
  await changeTasks(shop, other, 'elsewhere');
  await must(other, 'export');
  await changeTasks(shop, template, 'here');
  for (const name of ['tasks.jsonl', 'history.jsonl'])
    cpSync(join(other, '.forge', name), join(template, '.forge', name));
  editByHand(join(template, '.forge', 'tasks.jsonl'));
  return toScenario(shop, { script, command: ['import'] });
}

/** A file from elsewhere with more tasks than one write of the replica takes. */
export async function importScenario(script: string, tasks: number): Promise<OpenScenario> {
  const shop = await openWorkshop(script, { tasks: 2 });
  const file = join(dirname(shop.template), 'incoming.jsonl');
  writeFileSync(file, toLines(tasks).join(''));
  return toScenario(shop, { script, command: ['import', file], finish: [['import', file], ['export']] });
}

/** Files with several lines a task, a long replica, and what was removed and deleted long ago. */
export async function gcScenario(script: string, tasks: number): Promise<OpenScenario> {
  const shop = await openWorkshop(script, { tasks });
  const { template, must } = shop;
  const config = join(template, '.forge', 'config.json');
  const settings = JSON.parse(readFileSync(config, 'utf8')) as Record<string, unknown>;
  writeFileSync(config, `${JSON.stringify({ ...settings, settings: { gcOnExport: false } }, null, 2)}\n`);
  const old = await makeOldLines();
  writeFileSync(join(template, '.forge', 'tasks.jsonl'), old, { flag: 'a' });
  await must(template, 'export');
  await changeTasks(shop, template, 'gc');
  await must(template, 'export');
  return toScenario(shop, { script, command: ['gc', '--prune', '1'], finish: [['gc', '--prune', '1']] });
}

export type OpenScenario = KillScenario & AsyncDisposable;

interface CommandOptions {
  readonly script: string;
  readonly command: readonly string[];
  /** What somebody would run afterwards; it leads to the same files wherever the kill hit. */
  readonly finish?: readonly (readonly string[])[];
}

/**
 * After a kill each file is the one before or the one after, and so is the store; the next command works, and one more
 * brings what an undisturbed run brings. What is in between is what a shorter command would have left.
 */
function toScenario(
  shop: Workshop,
  { script, command, finish = [['export']] }: CommandOptions,
): OpenScenario {
  const { template, place, forge, must } = shop;
  ageTaskFiles(template);
  const files = [readTaskFiles(template)];
  const rows = [readTaskRows(template)];
  const lists: string[] = [];
  let last: { files: ReturnType<typeof readTaskFiles>; list: string } | undefined;
  const list = ['task', 'list', '--all', '--sort', 'id', '--json'];
  return {
    place,
    template,
    start: (copy, tracer) => {
      const [program = '', ...words] = [...tracer, process.execPath, script, ...command];
      return place.exec(program, words, { cwd: copy });
    },
    async rehearse(copy) {
      files.push(readTaskFiles(copy));
      rows.push(readTaskRows(copy));
      lists.push(await must(copy, ...list));
      for (const args of finish) await must(copy, ...args);
      last = { files: readTaskFiles(copy), list: await must(copy, ...list) };
      lists.push(last.list);
      // What a kill between two steps may leave: a step is a whole command.
      const half = join(dirname(copy), 'half');
      cpSync(template, half, { recursive: true, verbatimSymlinks: true });
      lists.push(await must(half, ...list));
      rows.push(readTaskRows(half));
      await must(half, 'export', '--gc');
      files.push(readTaskFiles(half));
    },
    async examine(copy) {
      const wrong: string[] = [];
      const expect = (holds: boolean, sentence: string): void => void (holds || wrong.push(sentence));
      const now = readTaskFiles(copy);
      for (const name of ['tasks', 'history'] as const) {
        const known = files.some((state) => state[name] === now[name]);
        expect(known, `${name}.jsonl is neither the old nor the new one (${now[name].length} bytes)`);
      }
      expect(rows.includes(readTaskRows(copy)), 'the rows are neither the old nor the new ones');
      const next = await forge(copy, ...list);
      expect(next.exit === 0, `the next command fails: ${next.stdout}${next.stderr}`);
      expect(lists.includes(next.stdout), 'the next command shows neither the old nor the new tasks');
      for (const args of finish) {
        const { exit, stderr } = await forge(copy, ...args);
        expect(exit === 0, `${args.join(' ')} fails afterwards: ${stderr}`);
      }
      const end = readTaskFiles(copy);
      expect(end.tasks === last?.files.tasks, 'tasks.jsonl differs in the end');
      expect(end.history === last?.files.history, 'history.jsonl differs in the end');
      expect((await forge(copy, ...list)).stdout === last?.list, 'the tasks differ in the end');
      const litter = findLitter(copy, ['.forge', '.git/forge']);
      expect(litter.length === 0, `left behind: ${litter.join(', ')}`);
      return wrong;
    },
    [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
  };
}

/** As if written a while ago: a file of this moment is looked at again, and the moment is over at any time. */
export function ageTaskFiles(root: string): void {
  const then = Date.now() / 1_000 - 60;
  for (const name of ['tasks.jsonl', 'history.jsonl']) utimesSync(join(root, '.forge', name), then, then);
}

/** One of each: new, changed, moved, commented, deleted. */
async function changeTasks({ must }: Workshop, root: string, where: string): Promise<void> {
  const ids = (
    JSON.parse(await must(root, 'task', 'list', '--sort', 'id', '--json')) as { id: string }[]
  ).map(({ id }) => id);
  const at = (n: number): string => ids[n % ids.length] ?? '';
  await must(root, 'task', 'create', `Made ${where}`);
  const shift = where === 'here' ? 20 : 0;
  await must(root, 'task', 'update', at(1 + shift), '--title', `Changed ${where}`, '--label-remove', 'all');
  await must(root, 'task', 'close', at(2 + shift), '--reason', 'done');
  await must(root, 'task', 'comment', at(3 + shift), `Said ${where}`);
  await must(root, 'task', 'delete', at(4 + shift));
}

function editByHand(file: string): void {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  // An edit counts from when it is first seen, but not from before its own time: so every run gives it the same.
  lines[10] = (lines[10] ?? '')
    .replace(/"title":"[^"]*"/, '"title":"Edited by hand"')
    .replace(/"updated_at":"[^"]*"/, '"updated_at":"2090-01-01T00:00:00.000Z"');
  lines.splice(5, 0, 'this is no task');
  writeFileSync(file, `${lines.join('\n')}\n`);
}

/** Lines of a store whose clock stood weeks ago: a label that was taken away, and a task that was deleted. */
async function makeOldLines(): Promise<string> {
  await using folder = await tempFolder();
  let now = Date.UTC(2026, 0, 5, 9);
  const clock = { now: () => (now += 1_000) };
  await using store = await openStore({ folder: folder.path }, { clock });
  const by = () => ({ actor: { kind: 'user', name: 'Ada', named: true }, now: clock.now() }) as const;
  const [kept, gone] = await Promise.all(
    ['Old and kept', 'Old and gone'].map((title) => store.createTask({ ...NEW_TASK, title }, by())),
  );
  await store.updateTask({ id: kept?.id ?? '', labels_remove: ['old'] }, by());
  await store.deleteTask({ id: gone?.id ?? '' }, by());
  const lines: string[] = [];
  for await (const part of store.exportTasks(''))
    lines.push(...part.lines.map((line) => `${String(line)}\n`));
  return lines.join('');
}

const NEW_TASK = {
  id_prefix: 'fg',
  description: '',
  type: 'task',
  priority: 2,
  state: 'todo',
  parent_id: null,
  assignee: null,
  labels: ['old', 'lasting'],
  github_issue: null,
  depends_on: [],
  metadata: new Map(),
} as const;
