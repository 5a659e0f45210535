import { hash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { LIMITS } from '#kernel/limits.ts';

/** What a repository brings for the programs of agents: settings, hooks, servers, permissions. */
export interface AgentSettings {
  /** A file or folder at the repository's top. */
  readonly path: string;
  /** Of all files in it; undefined where they cannot be told from what they may be tomorrow. */
  readonly sha256: string | undefined;
}

const PLACES = [
  '.claude',
  '.codex',
  '.copilot',
  '.gemini',
  '.goose',
  '.mcp.json',
  '.opencode',
  '.qwen',
  'opencode.json',
  'opencode.jsonc',
] as const;

/** Somebody's own file, which no repository brings: it is in their checkout alone. */
const PERSONAL = /\.local\.[a-z]+$/;

/**
 * Those that are there. `own: 'skip'` leaves out what people keep beside them for themselves. A link, or more files than
 * anybody would look through, has no digest.
 */
export function listAgentSettings(
  folder: string,
  { own = 'count', files = LIMITS.agent_settings_files }: { own?: 'count' | 'skip'; files?: number } = {},
): AgentSettings[] {
  return PLACES.flatMap((path) => {
    const found: string[][] = [];
    const isPlain = collect(folder, path, (inside) => {
      if (own === 'count' || !PERSONAL.test(inside)) found.push([inside, digest(join(folder, inside))]);
      return found.length <= files;
    });
    if (found.length === 0 && isPlain) return [];
    return [{ path, sha256: isPlain ? hash('sha256', JSON.stringify(found)) : undefined }];
  });
}

/** False at the first thing that is neither a file nor a folder, or when `see` has seen enough. */
function collect(folder: string, inside: string, see: (inside: string) => boolean): boolean {
  const path = join(folder, inside);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return true;
  if (found.isFile()) return see(inside);
  if (!found.isDirectory()) return false;
  return listNames(path)?.every((name) => collect(folder, `${inside}/${name}`, see)) ?? false;
}

function listNames(path: string): string[] | undefined {
  try {
    return readdirSync(path).toSorted();
  } catch {
    return undefined;
  }
}

/** One that cannot be read is another one every time. */
function digest(path: string): string {
  const bytes = readPlainFile(path);
  return bytes === undefined ? crypto.randomUUID() : hash('sha256', bytes);
}
