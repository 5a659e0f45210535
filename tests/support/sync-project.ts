import { homedir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '#store/open-store.ts';
import type { Task } from '#contract/task.ts';
import type { NewTaskInput, Writer } from '#store/store.ts';
import type { ProjectStore } from '#store/project-store.ts';
import type { StoreCare } from '#store/store-care.ts';
import type { Replication } from '#store/replication.ts';
import { findProject, type FoundProject } from '#sync/find-project.ts';
import { initialiseProject, type InitOptions, type InitResult } from '#sync/initialise-project.ts';
import type { Machine } from '#sync/machine.ts';
import { testGitEnv } from './temp-repo.ts';

/** Noon of a day: time stands still, so that what is written is the same in every run. */
export const NOON = Date.UTC(2026, 1, 18, 12);

/** This machine without anything of the person who runs the tests. */
export function testMachine(home: string, env: NodeJS.ProcessEnv = {}): Machine {
  const script = join(import.meta.dirname, '..', '..', 'bin', 'forge.cjs');
  return {
    env: { ...testGitEnv(), HOME: home, FORGE_HOME: join(home, '.forge'), ...env },
    homeDir: home === '' ? homedir() : home,
    program: { node: process.execPath, script },
    clock: { now: () => NOON },
  };
}

/** `forge init` with the real store. */
export function initWithStore(
  cwd: string,
  machine: Machine,
  wishes: Partial<Pick<InitOptions, 'prefix' | 'name' | 'stealth' | 'branch'>> = {},
): Promise<InitResult> {
  return initialiseProject({
    cwd,
    ...machine,
    ...wishes,
    async openStore(location) {
      await using _store = await openStore(location, { clock: machine.clock });
    },
  });
}

/** A task of which only the title is missing. */
export const PLAIN = {
  id_prefix: 'fg',
  description: '',
  type: 'task',
  priority: 2,
  state: 'todo',
  parent_id: null,
  assignee: null,
  labels: [],
  github_issue: null,
  depends_on: [],
  metadata: new Map(),
} as const;

export interface SyncProject extends FoundProject, AsyncDisposable {
  readonly store: ProjectStore & Replication & StoreCare;
  readonly by: Writer;
  create(title: string, more?: Partial<NewTaskInput>, now?: number): Promise<Task>;
}

/** The project around a folder with its store open, as an operation gets it. */
export async function openSyncProject(cwd: string, machine: Machine): Promise<SyncProject> {
  const found = findProject(cwd, machine.env, machine.homeDir);
  const store = await openStore(found.paths.store, { clock: machine.clock });
  const by: Writer = { actor: { kind: 'user', name: 'ann', named: true }, now: machine.clock.now() };
  let isOpen = true;
  return {
    ...found,
    store,
    by,
    create: (title, more, now = by.now) => store.createTask({ ...PLAIN, title, ...more }, { ...by, now }),
    /** May be called again: a test that closes it early still has it disposed of. */
    async [Symbol.asyncDispose]() {
      if (isOpen) await store[Symbol.asyncDispose]();
      isOpen = false;
    },
  };
}
