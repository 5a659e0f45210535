import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openProcessHost } from '#process/process-host.ts';
import { noteUnwalled } from './note-unwalled.ts';

/** Whether this machine can build walls around runs; tests that need them say that they are skipped for want of it. */
export const hasWalls = (await (await openProcessHost()).bubblewrap()) !== undefined;

export const WALLS = hasWalls ? (['on', 'off'] as const) : (['off'] as const);

/** The settings of the person: whether there are walls, and what can be written through them. */
export function setWalls(home: string, walls: 'on' | 'off', writable: readonly string[] = []): void {
  noteUnwalled(join(home, '.forge'));
  const settings = { walls: { agents: walls, checks: walls, writable } };
  writeFileSync(join(home, '.forge/settings.json'), JSON.stringify(settings));
}
