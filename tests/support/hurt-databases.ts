import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Task } from '#contract/task.ts';
import { DAMAGES } from './damage-database.ts';
import type { ForgeCli, ForgeProject } from './forge-cli.ts';
import { forgeProjectHere } from './forge-here.ts';
import { seededRandom } from './random.ts';
import { bringTasks } from './store-snapshot.ts';

export const DAMAGED =
  /^forge: The task database was damaged; it is made anew, and the old one is kept: (.*)\n$/;
const ANEW = /^forge: The task database was made anew from the local replica: 60 tasks\n$/;

/**
 * The database of a project is hurt in so many ways, each by its seed: the next command answers right, tells it in one
 * line or has nothing to tell, and keeps the old file. Gives those that were told.
 */
export async function hurtDatabases({ from, count }: { from: number; count: number }): Promise<string[]> {
  await using project = await projectOfSixty();
  const store = storeOf(project);
  const database = join(store, 'forge.db');
  const wanted = await listAll(project);
  const sound = readFileSync(database);
  const told: string[] = [];
  for (let seed = from; seed < from + count; seed += 1) {
    for (const name of readdirSync(store)) if (name.startsWith('forge.db')) rmSync(join(store, name));
    writeFileSync(database, sound);
    const random = seededRandom(seed);
    const what = `seed ${seed}: ${DAMAGES[seed % DAMAGES.length]?.(database, random)}`;
    const damaged = existsSync(database) ? readFileSync(database) : undefined;
    const { stdout, stderr, exit } = await project.run(...LIST);
    expect({ what, exit, stdout }).toEqual({ what, exit: 0, stdout: wanted });
    const [, aside] = DAMAGED.exec(stderr) ?? [];
    expect.soft(aside !== undefined || ANEW.test(stderr) || stderr === '', `${what}: ${stderr}`).toBe(true);
    if (stderr !== '') told.push(what);
    const old = aside === undefined ? undefined : readFileSync(aside);
    expect.soft(old === undefined || damaged?.equals(old), what).toBe(true);
    expect.soft(readdirSync(store).filter((name) => name.endsWith('.healing'))).toEqual([]);
    // It is said once.
    expect(await project.run(...LIST)).toEqual({ exit: 0, stdout: wanted, stderr: '' });
  }
  return told;
}

export const LIST = [
  'task',
  'list',
  '--all',
  '--sort',
  'id',
  '--json',
  '--limit',
  '1000',
  '--fields',
  'id,title,labels',
];

export async function listAll(project: ForgeProject): Promise<string> {
  const { stdout, stderr, exit } = await project.run(...LIST);
  expect({ exit, stderr, count: (JSON.parse(stdout) as Task[]).length }).toEqual({
    exit: 0,
    stderr: '',
    count: 60,
  });
  return stdout;
}

export async function projectOfSixty(): Promise<ForgeProject & { readonly program: ForgeCli }> {
  const project = await forgeProjectHere();
  const tasks = Array.from({ length: 60 }, (_, at) => ({
    id: `fg-t${String(at).padStart(3, '0')}`,
    title: `Task number ${at}`,
    labels: [`l${at}`],
    description: 'Some words. '.repeat(40),
    ...(at > 0 && { dependencies: [{ id: `fg-t${String(at - 1).padStart(3, '0')}`, type: 'blocks' }] }),
  }));
  bringTasks(project.path, tasks);
  await project.json('ready');
  return project;
}

export function storeOf({ path }: { readonly path: string }): string {
  return join(path, '.git', 'forge');
}
