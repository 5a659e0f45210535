import { join } from 'node:path';
import { type Clock, parseIso, toIso } from '#kernel/clock.ts';
import type { JsonObject } from '#kernel/json.ts';
import {
  findTokenCaller,
  isGood,
  readTokenFile,
  type StoredToken,
  type TokenCaller,
  tokensVersion,
} from './access-tokens.ts';
import { changeHomeFile, parseHomeObject, readHomeFile } from './home-file.ts';

const USES = 'token-uses.json';
/** To the minute is enough for a person, and a write at every request would be much. */
const USE_STEP_MS = 60_000;

export interface TokenAccess {
  /** Undefined for a token that was never given, was rotated or revoked, or is at its end. */
  findCaller(token: string): TokenCaller | undefined;
  /** Whether a caller found earlier would still be found. */
  isAlive(caller: TokenCaller): boolean;
}

/**
 * The tokens of a home for a process that runs for long. Each look costs one stat of the file, so that what another
 * process revoked is refused by the next request. What cannot be read of the file lets nobody in, and is told.
 */
export function openTokenAccess(
  home: string,
  clock: Clock,
  tell: (line: string) => void = () => undefined,
): TokenAccess {
  let version = '';
  let stored: StoredToken[] = [];
  const used = new Map<string, number>();
  const refresh = (): StoredToken[] => {
    const now = tokensVersion(home);
    if (now === version) return stored;
    version = now;
    const read = readTokenFile(home);
    stored = read.stored;
    for (const { message } of read.faults) tell(message);
    return stored;
  };
  return {
    findCaller(token) {
      const caller = findTokenCaller(refresh(), token, clock.now());
      if (caller !== undefined) noteUse(home, caller.token, { now: clock.now(), used });
      return caller;
    },
    isAlive: ({ token }) =>
      isStillGood(
        refresh().filter(({ record }) => record.id === token),
        clock.now(),
      ),
  };
}

function isStillGood(stored: readonly StoredToken[], now: number): boolean {
  return stored.length > 0 && stored.every(({ record }) => isGood(record, now));
}

/** When each token was last used, by id. */
export function readTokenUses(home: string): ReadonlyMap<string, string> {
  return new Map(Object.entries(parseUses(readHomeFile(home, USES), home)));
}

function noteUse(
  home: string,
  id: string,
  { now, used }: { readonly now: number; readonly used: Map<string, number> },
): void {
  const before = used.get(id);
  if (before !== undefined && now - before < USE_STEP_MS) return;
  used.set(id, now);
  // Nobody waits for it, and nothing depends on it.
  saveUse(home, id, now).catch(() => undefined);
}

async function saveUse(home: string, id: string, now: number): Promise<void> {
  await changeHomeFile(home, USES, (text) => {
    const uses = parseUses(text, home);
    const later = (parseIso(uses[id] ?? '') ?? 0) < now ? { ...uses, [id]: toIso(now) } : uses;
    return { text: `${JSON.stringify(later)}\n`, answer: undefined };
  });
}

function parseUses(text: string | undefined, home: string): Record<string, string> {
  if (text === undefined || text.trim() === '') return {};
  const value: JsonObject = parseHomeObject(text, join(home, USES));
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
