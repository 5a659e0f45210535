import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TextFault, validateWorkflowText } from '#domain/validate-workflow-text.ts';
import { DEFAULT_RESOLVED, type ResolvedWorkflow, resolveWorkflow } from '#domain/workflow.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { checksum } from '#kernel/checksum.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { toFileError } from './file-error.ts';
import { lookAt } from './look-at.ts';
import { replaceFile } from './place-file.ts';
import type { ProjectPaths } from './project-paths.ts';
import { readRegularFile } from './read-regular-file.ts';

/** Seen from the root of the working tree. */
export const WORKFLOW_PATH = '.forge/workflow.json';

/** Where the workflow lies that counts: the two are the same where the working tree's is an agent's (`GateFiles`). */
export type WorkflowPaths = Pick<ProjectPaths, 'forge_dir' | 'store_dir'>;

/** The text of a project's workflow and where it is from. */
export interface FoundWorkflow {
  /** `file`: the working tree's own; `shared`: the copy for branches and worktrees without one. */
  readonly source: 'default' | 'file' | 'shared';
  /** Null for the default. */
  readonly path: string | null;
  readonly text: string;
}

/** Reads at most two files and starts nothing. Throws invalid_input for what is no file or too large. */
export function findWorkflow(paths: WorkflowPaths): FoundWorkflow {
  for (const [source, path] of [
    ['file', ownPath(paths)],
    ['shared', sharedWorkflowPath(paths)],
  ] as const) {
    if (source === 'file' && path === sharedWorkflowPath(paths)) continue;
    const text = readText(path);
    if (text !== undefined) return { source, path, text };
  }
  return { source: 'default', path: null, text: '' };
}

/**
 * The project's workflow, checked. Called by commands that move a task, also by those that only look at its edges; a
 * command that shows tasks must do without it where it throws. Throws invalid_input with the first faults.
 */
export function readWorkflow(paths: WorkflowPaths): ResolvedWorkflow {
  return resolveFound(findWorkflow(paths));
}

/** Throws invalid_input with the first faults. */
export type WorkflowCheck = (found: FoundWorkflow) => ResolvedWorkflow;

/**
 * The same for a process that stays: a definition that has not changed is not checked again, also where it has faults;
 * one that has takes effect with the next call.
 */
export function openWorkflowReader(): WorkflowCheck {
  let last: { readonly found: FoundWorkflow; readonly answer: ResolvedWorkflow | ForgeError } | undefined;
  return (found) => {
    if (last?.found.text !== found.text || last.found.path !== found.path)
      last = { found, answer: resolveOrError(found) };
    if (isForgeError(last.answer)) throw last.answer;
    return last.answer;
  };
}

function resolveOrError(found: FoundWorkflow): ResolvedWorkflow | ForgeError {
  try {
    return resolveFound(found);
  } catch (error) {
    if (isForgeError(error)) return error;
    throw error;
  }
}

/** What a file says, checked. Throws invalid_input with the first faults. */
export function resolveFound({ source, text, path }: FoundWorkflow): ResolvedWorkflow {
  if (text === '') return DEFAULT_RESOLVED;
  const { workflow, faults } = validateWorkflowText(text);
  // No person edits the copy, so that a list of its faults is of no use.
  const hint = source === 'shared' ? 'forge doctor --fix' : 'forge workflow validate';
  if (workflow === undefined) throw brokenWorkflow(path ?? WORKFLOW_PATH, faults, hint);
  return workflow === DEFAULT_WORKFLOW ? DEFAULT_RESOLVED : resolveWorkflow(workflow);
}

const NAMED_FAULTS = 3;

function brokenWorkflow(path: string, faults: readonly TextFault[], hint: string): ForgeError {
  const named = faults
    .slice(0, NAMED_FAULTS)
    .map(({ path: at, message, line }) => `line ${line}: ${at === '' ? '' : `${at}: `}${message}`);
  const more = faults.length > NAMED_FAULTS ? `; and ${faults.length - NAMED_FAULTS} more` : '';
  return new ForgeError(
    'invalid_input',
    `${path} is not a workflow: ${escapeLine(`${named.join('; ')}${more}`)}`,
    { hint, details: { path, fault_count: faults.length } },
  );
}

/** Changes whenever the text does. It finds edits, not attacks. */
export function workflowDigest(text: string): string {
  return checksum(text);
}

/**
 * Puts a workflow that was validated before in its place, whole or not at all, and keeps the shared copy. Returns
 * whether anything changed. A working tree without `.forge` has none of its own, so only the copy is written.
 */
export function writeWorkflow(
  paths: WorkflowPaths,
  text: string,
): { source: 'file' | 'shared'; path: string; changed: boolean } {
  const hasOwn = paths.forge_dir !== paths.store_dir && lookAt(paths.forge_dir) !== undefined;
  const source = hasOwn ? 'file' : 'shared';
  const path = source === 'file' ? ownPath(paths) : sharedWorkflowPath(paths);
  const changed = !holds(path, text);
  try {
    if (source === 'file' && changed) replaceFile(path, text);
    copyToShared(paths, text);
    return { source, path, changed };
  } catch (error) {
    throw toFileError(error, `Could not write ${path}`);
  }
}

/** Whether there is a file at all, whatever it holds. */
export function hasWorkflowFile(paths: WorkflowPaths): boolean {
  return lookAt(ownPath(paths)) !== undefined || lookAt(sharedWorkflowPath(paths)) !== undefined;
}

/**
 * Keeps the shared copy up to date. For commands that write; idempotent, and quiet without a workflow here. A process
 * that stays calls it every second, with a check that remembers a text with faults. `counts`: the digest of the workflow
 * that the store has; where this checkout shows another one, the copy stays.
 */
export function refreshSharedWorkflow(
  paths: WorkflowPaths,
  { check = resolveFound, counts }: { readonly check?: WorkflowCheck; readonly counts?: string } = {},
): void {
  try {
    const text = readText(ownPath(paths));
    if (text === undefined || holds(sharedWorkflowPath(paths), text)) return;
    if (counts !== undefined && workflowDigest(text) !== counts) return;
    // The copy outlives the file: a workflow that is none must never take the place of the last good one.
    check({ source: 'file', path: ownPath(paths), text });
    copyToShared(paths, text);
  } catch (error) {
    // What is wrong with it is for those to say who need it.
    if (error instanceof ForgeError && error.code === 'invalid_input') return;
    throw toFileError(error, `Could not copy ${ownPath(paths)} to ${sharedWorkflowPath(paths)}`);
  }
}

/** What is wrong with the shared copy; undefined where it is a workflow, or where there is none. */
export function findCopyFault(paths: WorkflowPaths): string | undefined {
  const path = sharedWorkflowPath(paths);
  try {
    const text = readText(path);
    if (text !== undefined) resolveFound({ source: 'shared', path, text });
    return undefined;
  } catch (error) {
    if (error instanceof ForgeError) return error.message;
    throw error;
  }
}

/**
 * Puts the working tree's workflow into the place of a copy that is none. Where it has no workflow, the copy is kept
 * under another name, which is returned, and the built-in workflow counts.
 */
export function mendCopy(paths: WorkflowPaths): string | undefined {
  const shared = sharedWorkflowPath(paths);
  const aside = `${shared}.broken`;
  try {
    rmSync(aside, { recursive: true, force: true });
    renameSync(shared, aside);
  } catch (error) {
    throw toFileError(error, `Could not set ${shared} aside`);
  }
  if (paths.forge_dir !== paths.store_dir) refreshSharedWorkflow(paths);
  return lookAt(shared) === undefined ? aside : undefined;
}

function copyToShared(paths: WorkflowPaths, text: string): void {
  const shared = sharedWorkflowPath(paths);
  if (holds(shared, text)) return;
  mkdirSync(paths.store_dir, { recursive: true });
  replaceFile(shared, text);
}

function ownPath({ forge_dir }: WorkflowPaths): string {
  return join(forge_dir, 'workflow.json');
}

/** Of the copy for branches and worktrees without one. */
export function sharedWorkflowPath({ store_dir }: WorkflowPaths): string {
  return join(store_dir, 'workflow.json');
}

/** What cannot be read is to be replaced like any other. */
function holds(path: string, text: string): boolean {
  try {
    return readText(path) === text;
  } catch {
    return false;
  }
}

function readText(path: string): string | undefined {
  const max_bytes = LIMITS.workflow_bytes;
  const hint = 'forge workflow set --default';
  return readRegularFile(path, { links: 'refuse', max_bytes, hint })?.toString('utf8');
}
