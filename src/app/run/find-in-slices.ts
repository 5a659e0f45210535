import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIMITS } from '#kernel/limits.ts';

/** So much of a text is looked at before others have their turn: some 20 ms for the costliest. */
const SLICE = 65_536;

/**
 * Whether `redact` would change a text, looked at in slices with other work in between. Each slice begins before the end
 * of the one before it, so that a secret at a cut is seen whole.
 */
export async function holdsSecrets(text: string, redact: (text: string) => string): Promise<boolean> {
  for (let at = 0; at === 0 || at < text.length; at += SLICE) {
    if (at > 0) await nextTurn();
    const slice = text.slice(Math.max(0, at - LIMITS.secret_beyond_length), at + SLICE);
    if (redact(slice) !== slice) return true;
  }
  return false;
}
