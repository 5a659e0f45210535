import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const PREFIX = join(MEMORY, 'forge-tests-');
/** What all tests together need at once is a tenth of it. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Thousands of small repositories are made and synced to the disk for nothing. Where Linux has a folder in memory that
 * is large enough and lets programs be started from it, they lie there.
 */
export function setup(): void {
  const folder = makeFolder();
  if (folder !== undefined) process.env['TMPDIR'] = folder;
  // What `forge-cli.ts` makes once for all files.
  process.env['TEST_TEMPLATES'] = mkdtempSync(join(tmpdir(), 'forge-templates-'));
}

export function teardown(): void {
  const templates = process.env['TEST_TEMPLATES'];
  if (templates !== undefined) rmSync(templates, { recursive: true, force: true });
  const folder = process.env['TMPDIR'];
  if (folder?.startsWith(PREFIX) === true) rmSync(folder, { recursive: true, force: true });
}

function makeFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < NEEDED_BYTES) return undefined;
    const folder = mkdtempSync(PREFIX);
    // As the folder for temporary files is: some tests are about other users.
    chmodSync(folder, 0o1777);
    const probe = join(folder, 'probe');
    writeFileSync(probe, '#!/bin/sh\n');
    chmodSync(probe, 0o700);
    try {
      execFileSync(probe);
      rmSync(probe);
      return folder;
    } catch {
      rmSync(folder, { recursive: true });
      return undefined;
    }
  } catch {
    return undefined;
  }
}
