import type { TranscriptEntry } from '#contract/transcript.ts';

/** Hands on what a run says, to its log and to those who watch. */
export interface Teller {
  /** Never throws: pipes and timers call it, where a throw would end the whole process and all other runs with it. */
  readonly tell: (entry: TranscriptEntry) => void;
  /** Why an entry could not be told; undefined as long as all were. */
  readonly fault: () => string | undefined;
  /** Resolves when the first one could not be told. */
  readonly broken: Promise<void>;
}

/** `hand` redacts, writes and shows an entry, and may throw. */
export function createTeller(hand: (entry: TranscriptEntry) => void): Teller {
  const broken = Promise.withResolvers<void>();
  let fault: string | undefined;
  return {
    tell(entry) {
      try {
        hand(entry);
      } catch (error) {
        fault ??= describeFault(error);
        broken.resolve();
      }
    },
    fault: () => fault,
    broken: broken.promise,
  };
}

/** By its name alone: the message of an error may quote the text that could not be redacted. */
export function describeFault(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error;
  return `Stopped: a part of its output could not be redacted or kept (${name}), and is left out`;
}
