import { readFileSync } from 'node:fs';

/**
 * The sockets that some program of this machine has bound to a path. A mount that cannot be written to does not
 * keep a program from calling them, and many do what they are told: container engines, terminals, editors.
 */
export function findSockets(): readonly string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    return lines.flatMap((line) => BOUND.exec(line)?.[1] ?? []);
  } catch {
    return [];
  }
}

/** Number: count, protocol, flags, type, state, inode, path. One for datagrams does not listen, and is there all the same. */
const BOUND = /^[0-9a-f]+: \S+ \S+ \S+ \S+ \S+ +\d+ (\/.*)$/;
