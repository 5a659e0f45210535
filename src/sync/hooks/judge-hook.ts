import { accessSync, constants, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Environment, toRealPlace } from '../forge-home.ts';
import { type ForgeProgram, quoteForShell } from '../forge-program.ts';
import { lookAt } from '../look-at.ts';
import type { ProjectPaths } from '../project-paths.ts';
import {
  findBlocks,
  hasCarriageReturn,
  hasPortableLine,
  hasTornBlock,
  type HookName,
  isShellScript,
  toBlock,
  toPortableLine,
} from './hook-block.ts';
import { describeFolder, type HookFolder } from './hook-folder.ts';

/**
 * `absent`: nothing of ours is there, whether or not the file is. `outdated`: an older block, or one of another
 * installation. The others say why Forge leaves the file alone; `foreign` is what fits none of them.
 */
export type HookState =
  | 'installed'
  | 'outdated'
  | 'absent'
  | 'foreign'
  | 'tracked'
  | 'not_executable'
  | 'not_shell'
  | 'outside';

export interface HookStatus {
  readonly hook: HookName;
  /** What git would run, whether or not it is there. */
  readonly file: string;
  readonly state: HookState;
  /** What a person can do about it, on one line. */
  readonly advice?: string;
}

export interface JudgeOptions {
  readonly paths: ProjectPaths;
  readonly program: ForgeProgram;
  readonly env: Environment;
  /** Folders outside the repository may be written, which other repositories may use as well. */
  readonly shared?: boolean | undefined;
}

export interface JudgedHook extends HookStatus {
  /** Every byte as a character; undefined where there is no file. */
  readonly text: string | undefined;
  /** Whose the file is keeps Forge from writing it, whatever is in it. */
  readonly locked: boolean;
}

type Verdict = Pick<HookStatus, 'state' | 'advice'>;

export async function judgeHook(
  hook: HookName,
  folder: HookFolder,
  options: JudgeOptions,
): Promise<JudgedHook> {
  const file = join(folder.path, hook);
  const obstacle = findObstacle(file, folder);
  if (obstacle !== undefined) return { hook, file, text: undefined, locked: true, ...obstacle };
  const text = lookAt(file) === undefined ? undefined : readFileSync(file, 'latin1');
  const owner = await findOwner(hook, folder, options);
  return { hook, file, text, locked: owner !== undefined, ...decide(hook, { file, text, owner }, options) };
}

/** What git could not run either. */
function findObstacle(file: string, folder: HookFolder): Verdict | undefined {
  const place = lookAt(toRealPlace(folder.path));
  if (place !== undefined && !place.isDirectory()) {
    return {
      state: 'foreign',
      advice: `${folder.path} is not a folder, so git runs no hooks here; see: git config --show-origin core.hooksPath`,
    };
  }
  const found = lookAt(file);
  if (found === undefined) return undefined;
  const target = found.isSymbolicLink() ? lookAt(toRealPlace(file)) : found;
  if (target === undefined || target.isSymbolicLink()) {
    return { state: 'foreign', advice: `${file} is a link that leads nowhere. Remove it, ${THEN_INSTALL}` };
  }
  if (!target.isFile())
    return { state: 'foreign', advice: `${file} is not a file. Move it away, ${THEN_INSTALL}` };
  return undefined;
}

/** Why the file is not Forge's to write, if it is not. A link is never written through, wherever it leads. */
async function findOwner(
  hook: HookName,
  folder: HookFolder,
  { paths, env, shared }: JudgeOptions,
): Promise<Verdict | undefined> {
  const file = join(folder.path, hook);
  const line = `add this line near its beginning: ${toPortableLine(hook)}`;
  if (lookAt(file)?.isSymbolicLink() === true) {
    const target = toRealPlace(file);
    const behind = await describeFolder(dirname(target), paths, env);
    const advice = `${file} is a link to ${target}. Replace the link by a file of its own, ${THEN_INSTALL}; or ${line}`;
    if (folder.tracked.has(hook) || behind.tracked.has(basename(target))) return { state: 'tracked', advice };
    return { state: behind.place === 'outside' ? 'outside' : 'foreign', advice };
  }
  if (folder.tracked.has(hook))
    return { state: 'tracked', advice: `${file} is under version control; ${line}` };
  if (folder.tracked.size > 0 && folder.place === 'worktree') {
    // A new file here would be committed sooner or later, with this machine's paths in it.
    return {
      state: 'tracked',
      advice: `The hooks in ${folder.path} are under version control; make ${line}`,
    };
  }
  if (folder.place !== 'outside' || shared === true) return undefined;
  const advice = `${folder.path} is outside the repository and may serve others too. forge hooks install --shared writes there; or ${line}`;
  return { state: 'outside', advice };
}

function decide(
  hook: HookName,
  { file, text, owner }: { file: string; text: string | undefined; owner: Verdict | undefined },
  { program }: JudgeOptions,
): Verdict {
  if (text === undefined) return owner ?? { state: 'absent' };
  if (!isExecutable(file)) {
    const advice = `git skips ${file}, because it is not executable. To have it run: chmod +x ${quoteForShell(file)}`;
    return { state: 'not_executable', advice: `${advice}, ${THEN_INSTALL}` };
  }
  const blocks = findBlocks(text);
  const current = blocks.length === 1 && blocks[0] === toBlock(hook, program);
  if (current || (blocks.length === 0 && hasPortableLine(text, hook))) return installed(file, text);
  if (owner !== undefined) return owner;
  if (!isShellScript(text)) {
    const advice = `${file} is not a shell script. Let it run this command with its own arguments: forge hook ${hook}`;
    return { state: 'not_shell', advice };
  }
  if (hasTornBlock(text)) {
    const advice = `${file} has a Forge marker without its partner. Remove what is left of the block by hand, ${THEN_INSTALL}`;
    return { state: 'foreign', advice };
  }
  return { state: blocks.length > 0 ? 'outdated' : 'absent' };
}

const THEN_INSTALL = 'then: forge hooks install';

function installed(file: string, text: string): Verdict {
  if (process.platform === 'win32' || !hasCarriageReturn(text)) return { state: 'installed' };
  const advice = `The first line of ${file} ends with a carriage return, so this system cannot run it`;
  return { state: 'installed', advice };
}

/** As git asks. On Windows there is no such permission, and git goes by the first line. */
function isExecutable(file: string): boolean {
  if (process.platform === 'win32') return true;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
