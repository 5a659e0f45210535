import { mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toFileError } from './file-error.ts';
import { toRealPlace } from './forge-home.ts';
import { findBlocks, HOOK_NAMES, OWN_SHEBANG, putBlock, removeBlocks, toBlock } from './hooks/hook-block.ts';
import { describeFolder, findHookFolder, type HookFolder } from './hooks/hook-folder.ts';
import { type HookStatus, type JudgedHook, judgeHook, type JudgeOptions } from './hooks/judge-hook.ts';
import {
  placeHuskyKeepers,
  placeKeeper,
  removeHuskyKeepers,
  removeKeeper,
  type WriteHook,
} from './hooks/keepers.ts';
import { forgetHooks, rememberHooks } from './hooks/hook-memory.ts';
import { lookAt } from './look-at.ts';
import { replaceFile } from './place-file.ts';

export type { HookStatus } from './hooks/judge-hook.ts';
export type HookOptions = JudgeOptions;

export interface HookChange extends HookStatus {
  /** Whether this call wrote or removed the file. */
  readonly changed: boolean;
}

/** One row a hook, about the file that git would really run. Writes nothing. */
export async function readHookStatus(options: HookOptions): Promise<HookStatus[]> {
  const folder = await findHookFolder(options.paths, options.env);
  return (await judgeAll(folder, options)).map(toStatus);
}

/**
 * Puts Forge's block into every hook that is Forge's to write, and says of the others why not. Idempotent; every other
 * byte of a hook stays. Never writes a tracked file or through a link, nor without `shared` outside the repository.
 */
export async function installHooks(options: HookOptions): Promise<HookChange[]> {
  const folder = await findHookFolder(options.paths, options.env);
  const changed = new Set<string>();
  for (const judged of await judgeAll(folder, options)) {
    if (judged.state !== 'absent' && judged.state !== 'outdated') continue;
    writeHook(judged, putBlock(judged.text ?? OWN_SHEBANG, toBlock(judged.hook, options.program)));
    changed.add(judged.hook);
  }
  const after = await judgeAll(folder, options);
  placeKeepers(folder, after, options);
  rememberHooks(options.paths, join(folder.path, 'pre-commit'), after[0]?.state);
  return after.map((judged) => ({ ...toStatus(judged), changed: changed.has(judged.hook) }));
}

/**
 * Every program that generates hooks may come later, so the keepers are there before: beside the hooks that git runs, in
 * git's own folder, which git runs when `core.hooksPath` is taken away, and where husky will write. Only while Forge
 * is in the hooks; where a person took it out, they go too.
 */
export async function settleKeepers(options: HookOptions): Promise<void> {
  const folder = await findHookFolder(options.paths, options.env);
  placeKeepers(folder, await judgeAll(folder, options), options);
}

function placeKeepers(
  folder: HookFolder,
  hooks: readonly JudgedHook[],
  { paths, program }: HookOptions,
): void {
  const own = join(paths.common_dir, 'hooks');
  if (!hooks.every(({ state, locked }) => state === 'installed' && !locked)) {
    removeKeeper(folder.path);
    return;
  }
  const write: WriteHook = (file, content) => writeHook({ file, text: undefined }, content);
  placeHuskyKeepers(paths.root, program, write);
  for (const place of new Set([folder.path, own])) placeKeeper(place, program, write);
}

/**
 * Takes the blocks out again, also those in `<common>/hooks` that a later `core.hooksPath` has put out of use. A file
 * that has nothing else in it goes away. What a person wrote by hand stays, and the advice says so.
 */
export async function uninstallHooks(options: HookOptions): Promise<HookChange[]> {
  const folder = await findHookFolder(options.paths, options.env);
  const own = await describeFolder(join(options.paths.common_dir, 'hooks'), options.paths, options.env);
  forgetHooks(options.paths);
  removeHuskyKeepers(options.paths.root);
  const live = await clearFolder(folder, options);
  const isSame = toRealPlace(own.path) === toRealPlace(folder.path);
  const idle = isSame ? [] : await clearFolder(own, options);
  return [...live, ...idle.filter((row) => row.changed)];
}

async function clearFolder(folder: HookFolder, options: HookOptions): Promise<HookChange[]> {
  const changed = new Set<string>();
  for (const judged of await judgeAll(folder, options)) {
    const { text, locked } = judged;
    if (text === undefined || locked || findBlocks(text).length === 0) continue;
    clearHook(judged, removeBlocks(text));
    changed.add(judged.hook);
  }
  const wasKept = removeKeeper(folder.path);
  if ((changed.size > 0 || wasKept) && folder.place === 'git_folder') removeIfEmpty(folder.path);
  const after = await judgeAll(folder, options);
  return after.map((judged) => ({ ...toRemnant(judged), changed: changed.has(judged.hook) }));
}

function judgeAll(folder: HookFolder, options: HookOptions): Promise<JudgedHook[]> {
  return Promise.all(HOOK_NAMES.map((hook) => judgeHook(hook, folder, options)));
}

function toStatus({ hook, file, state, advice }: JudgedHook): HookStatus {
  return { hook, file, state, ...(advice !== undefined && { advice }) };
}

/** How to install is no advice for somebody who has just uninstalled. */
function toRemnant({ hook, file, state, text }: JudgedHook): HookStatus {
  if (text === undefined || state === 'absent') return { hook, file, state };
  if (findBlocks(text).length > 0) {
    const advice = `${file} is not Forge's to write. Remove the lines from "# >>> forge >>>" to "# <<< forge <<<" by hand`;
    return { hook, file, state, advice };
  }
  if (state !== 'installed') return { hook, file, state };
  return { hook, file, state, advice: `Somebody wrote forge hook ${hook} into ${file}; remove it by hand` };
}

function writeHook({ file, text }: Pick<JudgedHook, 'file' | 'text'>, content: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    // A hook that somebody made keeps its permissions; whether it runs is for them to say.
    const mode = text === undefined ? 0o777 & ~process.umask() : statSync(file).mode & 0o7777;
    replaceFile(file, Buffer.from(content, 'latin1'), mode);
  } catch (error) {
    throw toFileError(error, `Could not write the hook ${file}`);
  }
}

function clearHook(judged: JudgedHook, content: string): void {
  if (content !== OWN_SHEBANG) return writeHook(judged, content);
  try {
    rmSync(judged.file);
  } catch (error) {
    throw toFileError(error, `Could not remove the hook ${judged.file}`);
  }
}

/** A repository made without a template has no such folder. */
function removeIfEmpty(folder: string): void {
  if (lookAt(folder)?.isDirectory() === true && readdirSync(folder).length === 0) rmdirSync(folder);
}
