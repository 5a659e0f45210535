import { realpathSync } from 'node:fs';
import type { ForgeProgram } from '#sync/forge-program.ts';

/** This process as git can start it again. A link on the PATH may be pointed elsewhere; what runs now is meant. */
export function findProgram(): ForgeProgram {
  return { node: process.execPath, script: realpathSync(process.argv[1] ?? '') };
}
