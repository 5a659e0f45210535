import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openProcessHost } from '#process/process-host.ts';
import { findClis, type FoundCli } from './find-clis.ts';

/** The same as findClis on this machine as it is, in an empty folder: what a repository holds has no say. */
export async function findClisHere(search: {
  readonly env: Readonly<Record<string, string | undefined>>;
}): Promise<readonly FoundCli[]> {
  const cwd = mkdtempSync(join(tmpdir(), 'forge-clis-'));
  try {
    return await findClis({ ...search, cwd, processes: await openProcessHost(), version: '0' });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
