import { ForgeError } from './errors.ts';

/** For what can only be a bug of ours. The sentence says what was believed. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new ForgeError('internal', `Broken assumption: ${sentence}`);
}
