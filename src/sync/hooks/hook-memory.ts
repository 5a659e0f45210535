import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { readSharedModes } from '#git/shared-modes.ts';
import type { ForgeProgram } from '../forge-program.ts';
import { replaceFile } from '../place-file.ts';
import type { ProjectPaths } from '../project-paths.ts';
import { hasHuskyKeepers } from './keepers.ts';

type Places = Pick<ProjectPaths, 'root' | 'common_dir' | 'store_dir'>;

/** What `forge hooks install` left behind, so that every command can see with two small reads whether it still holds. */
interface HookMemory {
  /** `core.hooksPath` as the clone's own configuration has it. */
  readonly setting: string;
  /** The file of the pre-commit hook, where `setting` alone does not tell; empty otherwise. */
  readonly file: string;
  /** False: it could not be installed, or is gone, and the person was told. */
  readonly installed: boolean;
}

/** True where Forge was never in the hooks, where it still is, and where the person knows that it is not. */
export function areHooksInPlace(paths: Places, config: string, program: ForgeProgram): boolean {
  const memory = readMemory(paths);
  if (memory === undefined) return true;
  const setting = readSetting(config);
  if (setting !== memory.setting) return false;
  if (!memory.installed) return true;
  try {
    // A hook may be a file of the repository, and so whatever the repository puts in its place.
    const text = readPlainFile(toHookFile(paths, memory))?.toString('latin1') ?? '';
    return text.includes(' hook pre-commit') && isProgramThere(text, program) && hasHuskyKeepers(paths.root);
  } catch {
    return false;
  }
}

/** Whether the hooks were once installed to the end. */
export function areHooksRemembered(paths: Pick<Places, 'store_dir'>): boolean {
  return existsSync(toMemoryPath(paths));
}

/** Whether git was led to other hooks since Forge was put into some: no person took Forge out of these. */
export function haveHooksMoved(paths: Places): boolean {
  const memory = readMemory(paths);
  return memory !== undefined && memory.setting !== readSetting(readConfig(paths));
}

/** Without a folder of Forge's own there is no project to watch over. */
export function rememberHooks(paths: Places, file: string, state: string | undefined): void {
  if (!existsSync(paths.store_dir)) return;
  const setting = readSetting(readConfig(paths));
  const memory = { setting, file: setting.startsWith('~') ? file : '', installed: state === 'installed' };
  const text = `${JSON.stringify(memory satisfies HookMemory)}\n`;
  if (readPlainFile(toMemoryPath(paths))?.toString('utf8') === text) return;
  replaceFile(toMemoryPath(paths), text, readSharedModes(paths.common_dir).file);
}

export function forgetHooks(paths: Places): void {
  rmSync(toMemoryPath(paths), { force: true });
}

/**
 * Another installation will do as long as it is there; the block itself does nothing where it is not. An update of Node
 * alone may leave the script where it was and take the program away that runs it.
 */
function isProgramThere(text: string, { node, script }: ForgeProgram): boolean {
  if (text.includes(script) && text.includes(node)) return true;
  const named = [/ \[ -x '([^']+)' \]/, / \[ -f '([^']+)' \]/].map((test) => test.exec(text)?.[1]);
  return named.every(
    (path) => path === undefined || existsSync(Buffer.from(path, 'latin1').toString('utf8')),
  );
}

/** A relative folder is each working tree's own. */
function toHookFile({ root, common_dir }: Places, { setting, file }: HookMemory): string {
  if (setting === '') return join(common_dir, 'hooks', 'pre-commit');
  return setting.startsWith('~') ? file : join(resolve(root, setting), 'pre-commit');
}

function readSetting(config: string): string {
  return (
    [...config.matchAll(/^[ \t]*hooksPath[ \t]*=(.*)$/gim)]
      .at(-1)?.[1]
      ?.trim()
      .replace(/^"(.*)"$/, '$1') ?? ''
  );
}

function readConfig({ common_dir }: Places): string {
  return readPlainFile(join(common_dir, 'config'))?.toString('utf8') ?? '';
}

function readMemory(paths: Places): HookMemory | undefined {
  try {
    const text = readPlainFile(toMemoryPath(paths))?.toString('utf8') ?? '';
    return JSON.parse(text) as HookMemory; // what rememberHooks wrote
  } catch {
    return undefined;
  }
}

function toMemoryPath({ store_dir }: Pick<Places, 'store_dir'>): string {
  return join(store_dir, 'hooks.json');
}
