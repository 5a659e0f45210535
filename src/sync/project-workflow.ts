import { systemActor } from '#domain/actor.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import type { ResolvedWorkflow } from '#domain/workflow.ts';
import { type ForgeError, isForgeError } from '#kernel/errors.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import type { KeptWorkflow } from '#store/kept-workflow.ts';
import type { TaskStore } from '#store/store.ts';
import type { Replication } from '#store/replication.ts';
import { GateFiles } from './gate-files.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import {
  findWorkflow,
  openWorkflowReader,
  workflowDigest,
  type WorkflowCheck,
  type WorkflowPaths,
} from './workflow-file.ts';

/** The workflow of a project that is open. */
export interface ProjectWorkflow {
  /** As it was at the last look. Throws invalid_input where the file that shows it then had faults. */
  readonly current: () => ResolvedWorkflow;
  /** Takes in what changed since: the file of this checkout, or what another process wrote into the store. */
  readonly look: () => Promise<void>;
  /** It remembers the last one. */
  readonly check: WorkflowCheck;
}

type WorkflowStore = TaskStore & AttemptStore & Pick<Replication, 'readMarks' | 'saveMark'>;

interface Surroundings extends Pick<Machine, 'env' | 'clock'> {
  readonly notice: (line: string) => void;
}

/** A definition with faults is no hindrance: an operation that needs the workflow says what is wrong with it. */
export async function openProjectWorkflow(
  { paths, store }: { readonly paths: ProjectPaths; readonly store: WorkflowStore },
  around: Surroundings,
): Promise<ProjectWorkflow> {
  const gates = new GateFiles({ paths, store }, around);
  const check = openWorkflowReader();
  let answer: KeptWorkflow | ForgeError;
  const look = async (): Promise<void> => {
    await gates.look();
    try {
      answer = await takeInWorkflow(store, gates.placesOf('workflow.json'), { check, around });
    } catch (error) {
      if (!isForgeError(error) || error.code !== 'invalid_input') throw error;
      answer = error;
      await store.readKeptWorkflow();
    }
  };
  await look();
  const current = (): ResolvedWorkflow => {
    if (isForgeError(answer)) throw answer;
    return answer.workflow;
  };
  return { current, look, check };
}

/** What a checkout shows becomes the project's workflow where it changed there since the last look. */
async function takeInWorkflow(
  store: WorkflowStore,
  places: WorkflowPaths,
  { check, around }: { readonly check: WorkflowCheck; readonly around: Surroundings },
): Promise<KeptWorkflow> {
  const kept = await store.readKeptWorkflow();
  const found = findWorkflow(places);
  const isNone = found.path === null;
  if (isNone && kept.version === 0) return kept;
  const digest = isNone ? NO_FILE : workflowDigest(found.text);
  const key = `workflow:${places.forge_dir}`;
  const [mark] = await store.readMarks([key]);
  if (kept.version > 0 && mark?.digest === digest) return kept;
  const now = around.clock.now();
  const remember = (): Promise<void> => store.saveMark({ path: key, ...NO_STATS, digest, looked_at: now });
  if (isNone) {
    await remember();
    return kept;
  }
  // Faults are told before anything is remembered of it.
  const { definition: checked } = check(found);
  const definition = checked === DEFAULT_WORKFLOW ? undefined : checked;
  const shown = { before: mark?.digest };
  const by = { actor: systemActor('fold'), now };
  const after = await store.setWorkflow({ definition, digest, shown }, by);
  if (after.digest !== digest)
    around.notice(
      `The workflow in ${found.path} is not the one that counts in this project. That one is told by 'forge workflow show'; this one counts after 'forge workflow set ${found.path}'`,
    );
  await remember();
  return after;
}

/** What is remembered of a checkout that shows none: a file that appears there later is a change. */
const NO_FILE = '-';
/** It is the text that counts, not when it was written. */
const NO_STATS = { size: 0, mtime: '0', ctime: '0', inode: '0', event_seq: null };
