import { realpathSync } from 'node:fs';
import type { ForgeProgram } from '#sync/forge-program.ts';

/** This process as git can start it again. A link on the PATH may be pointed elsewhere; what runs now is meant. */
export function findProgram(): ForgeProgram {
  const script = realpathSync(process.argv[1] ?? '');
  // By its other name the program asks a server, and what is started by git works here.
  return { node: process.execPath, script: script.replace(/forge-ctl\.cjs$/, 'forge.cjs') };
}
