import { writeSync } from 'node:fs';
import { PLAY, VERSION } from './version.ts';

/** The program: what `bin/forge.cjs` starts. `--version` alone is answered without loading anything else. */
export async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  if (argv.length === 1 && argv[0] === '--version' && tryWrite(`${VERSION}\n`)) return;
  // Without a listener Node opens its debugger at this signal, to whoever is on the machine: some commands stay for
  // days and know secrets. It takes a tenth of a millisecond.
  process.on('SIGUSR1', () => undefined);
  if (argv.length === 1 && argv[0] === PLAY) {
    const { playScript } = await import('#executors/play-script.ts');
    return playScript();
  }
  const { startCli } = await import('./start-cli.ts');
  process.exitCode = await startCli(argv, VERSION);
}

/** A reader that went away, a full disk: the whole command line knows what to say then. */
function tryWrite(text: string): boolean {
  try {
    return writeSync(1, text) === text.length;
  } catch {
    return false;
  }
}
