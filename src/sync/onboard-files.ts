import { accessSync, constants, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { toFileError } from './file-error.ts';
import { lookAt } from './look-at.ts';
import { NEW_FILE, readBlockState, withBlock, withoutBlock } from './onboard-block.ts';
import { replaceFile, stageFile } from './place-file.ts';

/** `create` and `delete` speak of the file, the others of the block in it. */
export type OnboardChange = 'create' | 'add' | 'update' | 'remove' | 'delete' | 'none';

/** One file and what is to become of it, as data: a plan has touched nothing. */
export interface OnboardStep {
  /** From the root of the working tree, as the person knows it. */
  readonly path: string;
  readonly change: OnboardChange;
  /** The file itself, links followed. */
  readonly file: string;
  /** What the plan was made for; undefined where there was no file. */
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
  readonly mode: number | undefined;
}

/** The first is made where it is missing; the second is read by one agent that does not read the first. */
const ALWAYS = 'AGENTS.md';
const IF_THERE = 'CLAUDE.md';

/**
 * What `forge onboard` (or `--undo`) has to do in a working tree. Throws for any file that it cannot or must not
 * write, so that a refusal leaves all of them as they were.
 */
export function planOnboarding(root: string, wanted: 'block' | 'no block'): readonly OnboardStep[] {
  const steps: OnboardStep[] = [];
  for (const path of [ALWAYS, IF_THERE]) {
    const place = findPlace(realpathSync.native(root), path, wanted);
    // A link from one to the other is one file.
    if (place === undefined || steps.some((step) => step.file === place.file)) continue;
    const step = wanted === 'block' ? planBlock(path, place) : planRemoval(path, place);
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

/** Carries a plan out. Throws version_conflict where a file is no longer what the plan was made for. */
export function applyOnboarding(steps: readonly OnboardStep[]): void {
  for (const step of steps) {
    try {
      applyStep(step);
    } catch (error) {
      throw toFileError(error, `Could not write ${step.path}`);
    }
  }
}

function applyStep({ path, change, file, before, after, mode }: OnboardStep): void {
  if (change === 'none') return;
  if (before === undefined) {
    if (after !== undefined) publishNew(path, file, after.toString('latin1'));
    return;
  }
  if (!readFileSync(file).equals(before)) throw changedMeanwhile(path);
  if (after === undefined) rmSync(file);
  else replaceFile(file, after, mode);
}

function publishNew(path: string, file: string, text: string): void {
  const staged = stageFile(file, text);
  try {
    staged.publish();
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? changedMeanwhile(path) : error;
  } finally {
    staged.discard();
  }
}

interface Place {
  readonly file: string;
  readonly linked: boolean;
  /** Undefined where nothing is. */
  readonly found: { readonly bytes: Buffer; readonly mode: number } | undefined;
}

function planBlock(path: string, { file, found }: Place): OnboardStep {
  if (found === undefined) {
    return {
      path,
      change: 'create',
      file,
      before: undefined,
      after: Buffer.from(NEW_FILE),
      mode: undefined,
    };
  }
  const { bytes: before, mode } = found;
  const text = before.toString('latin1');
  const state = readBlockState(text, path);
  if (state === 'current') return { path, change: 'none', file, before, after: before, mode };
  checkWritable(path, file, mode);
  const after = Buffer.from(withBlock(text, path), 'latin1');
  return { path, change: state === 'absent' ? 'add' : 'update', file, before, after, mode };
}

function planRemoval(path: string, { file, found, linked }: Place): OnboardStep | undefined {
  if (found === undefined) return undefined;
  const { bytes: before, mode } = found;
  const text = before.toString('latin1');
  if (readBlockState(text, path) === 'absent') {
    return { path, change: 'none', file, before, after: before, mode };
  }
  checkWritable(path, file, mode);
  const rest = withoutBlock(text, path);
  // What a link leads to was there before the block.
  if (rest === undefined && !linked) return { path, change: 'delete', file, before, after: undefined, mode };
  return { path, change: 'remove', file, before, after: Buffer.from(rest ?? '', 'latin1'), mode };
}

/** Undefined where there is nothing to do for this name. */
function findPlace(root: string, path: string, wanted: 'block' | 'no block'): Place | undefined {
  const named = join(root, path);
  const entry = lookAt(named);
  if (entry === undefined) {
    return path === ALWAYS ? { file: named, linked: false, found: undefined } : undefined;
  }
  const linked = entry.isSymbolicLink();
  const file = linked ? followLink(root, path, wanted) : named;
  if (file === undefined) return undefined;
  if (!isInside(root, file)) {
    // Nothing of ours is out there, so there is nothing to take back.
    if (wanted === 'no block') return undefined;
    throw refuse(path, `is a link to ${file}, outside of this repository`, { target: file });
  }
  try {
    const { mode } = checkRegular(path, file);
    const bytes = readFileSync(file);
    checkEncoding(path, bytes);
    return { file, linked, found: { bytes, mode: mode & 0o7777 } };
  } catch (error) {
    throw toFileError(error, `Could not read ${path}`);
  }
}

/** Where a link ends; undefined where it waits for the file that this very run makes, or for nothing of ours. */
function followLink(root: string, path: string, wanted: 'block' | 'no block'): string | undefined {
  try {
    return realpathSync.native(join(root, path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what fs throws
    if (code !== 'ENOENT' && code !== 'ELOOP') throw toFileError(error, `Could not look at ${path}`);
    const target = readlinkSync(join(root, path));
    const waits = path !== ALWAYS && resolve(root, target) === join(root, ALWAYS);
    if (waits || wanted === 'no block') return undefined;
    throw refuse(path, `is a link that leads nowhere: ${target}`, { target });
  }
}

/** `.git` is inside too, and not part of the working tree. */
function isInside(root: string, file: string): boolean {
  const way = relative(root, file);
  const [first] = way.split(sep);
  return !isAbsolute(way) && first !== '..' && first?.toLowerCase() !== '.git';
}

function checkRegular(path: string, file: string) {
  const stats = statSync(file);
  if (!stats.isFile()) throw refuse(path, stats.isDirectory() ? 'is a folder' : 'is not a regular file', {});
  return stats;
}

/** Anything that has ASCII in it as ASCII will do; UTF-16 and what is no text at all have zero bytes. */
function checkEncoding(path: string, bytes: Buffer): void {
  const mark = bytes.subarray(0, 2).toString('latin1');
  const wide = mark === '\u00ff\u00fe' || mark === '\u00fe\u00ff';
  if (!wide && !bytes.includes(0)) return;
  throw new ForgeError('invalid_input', `${path} is not UTF-8 text${wide ? ' but UTF-16' : ''}`, {
    hint: `Save ${path} as UTF-8, then run forge onboard again`,
    details: { path },
  });
}

/** A rename would replace a read-only file without asking; who made it so meant something by it. */
function checkWritable(path: string, file: string, mode: number): void {
  const readOnly = (mode & 0o222) === 0;
  try {
    accessSync(file, constants.W_OK);
    if (!readOnly) return;
  } catch (error) {
    if (!readOnly) throw toFileError(error, `Could not write ${path}`);
  }
  throw new ForgeError('permission_denied', `${path} is read-only`, {
    hint: `chmod u+w ${path}`,
    details: { path },
  });
}

function refuse(path: string, what: string, details: Record<string, unknown>): ForgeError {
  return new ForgeError('invalid_input', `${path} ${what}`, {
    hint: `Put a file of this repository in the place of ${path}, or move it away, then run forge onboard again`,
    details: { path, ...details },
  });
}

function changedMeanwhile(path: string): ForgeError {
  return new ForgeError('version_conflict', `${path} was changed by somebody else just now`, {
    hint: 'forge onboard',
    details: { path },
  });
}
