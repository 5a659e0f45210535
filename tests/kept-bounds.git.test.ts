import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openServerProjects } from '#app/server-projects.ts';
import type { OutputOf } from '#contract/declare.ts';
import type { collectGarbage } from '#contract/sync-operations.ts';
import { systemClock } from '#kernel/clock.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { toHomePlace } from '#sync/forge-home.ts';
import { FORGE } from './support/forge-cli.ts';
import { forgeProjectHere } from './support/forge-here.ts';

const DAY_MS = 86_400_000;
const BEYOND = KEPT_LIMITS.events + KEPT_LIMITS.events_over + 100;

describe('[M6] a feed that is longer than its bound', () => {
  it('is brought back within it by a command that writes, and left as it is by one that reads', async () => {
    await using project = await openProject();
    project.addEvents(BEYOND);
    const before = project.countEvents();
    await project.text('task', 'list');
    expect(project.countEvents()).toBe(before);
    await project.create('written');
    expect(project.countEvents()).toBeLessThanOrEqual(KEPT_LIMITS.events + 10);
    expect((await project.json<{ title: string }[]>('task', 'list')).map(({ title }) => title)).toEqual([
      'written',
    ]);
  });

  it('is brought back within it by a server that looks after its project', async () => {
    await using project = await openProject();
    await using projects = await openServerProjects(
      { paths: [project.path], cwd: project.path },
      {
        place: toHomePlace(project.env, project.home),
        clock: systemClock,
        env: project.env,
        program: { node: process.execPath, script: FORGE },
        notice: () => undefined,
      },
    );
    await projects.list()[0]?.keepUp();
    project.addEvents(BEYOND);
    await projects.list()[0]?.keepUp();
    expect(project.countEvents()).toBeLessThanOrEqual(KEPT_LIMITS.events + 10);
  });
});

describe('[D13] forge gc', () => {
  it('forgets old events, those of the last ninety days only where it is told to, and makes the database smaller', async () => {
    await using project = await openProject();
    project.addEvents(KEPT_LIMITS.events_at_once + 1_000, { days: KEPT_LIMITS.event_days + 1 });
    project.addEvents(2_000, { days: KEPT_LIMITS.event_days - 1 });
    project.addEvents(1);
    await project.expectForgotten(['gc'], (events) => {
      // Every command that writes forgets a portion before it begins.
      expect(events).toBeGreaterThanOrEqual(1_000);
      expect(events).toBeLessThan(1_100);
    });
    await project.expectForgotten(['gc', '--events', '30'], (events) => expect(events).toBe(2_000));
    expect((await project.json<OutputOf<typeof collectGarbage>>('gc')).events).toEqual({ forgotten: 0 });
  });
});

/** A project whose feed can be made longer without the hours that it takes to write it, and looked at. */
async function openProject() {
  const project = await forgeProjectHere();
  const path = join(project.path, '.git/forge/forge.db');
  const size = (): number => statSync(path).size;
  using first = new DatabaseSync(path);
  first.exec("UPDATE events SET created_at = '2020-01-01T00:00:00.000Z'");
  return {
    ...project,
    addEvents(count: number, { days = 0 } = {}): void {
      using db = new DatabaseSync(path);
      db.prepare(
        `INSERT INTO events (type, task_id, triggered_by, created_at, data)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         SELECT 'project.changed', NULL, 'user:ann', ?, '{"changed":["config"]}' FROM n`,
      ).run(count, new Date(Date.now() - days * DAY_MS).toISOString());
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    countEvents(): number {
      using db = new DatabaseSync(path, { readOnly: true });
      return Number(db.prepare('SELECT count(*) AS n FROM events').get()?.['n']);
    },
    async expectForgotten(command: readonly string[], judge: (events: number) => void): Promise<void> {
      const before = size();
      const { events, database } = await project.json<OutputOf<typeof collectGarbage>>(...command);
      judge(events.forgotten);
      expect(database.after).toBeLessThan(database.before);
      expect(size()).toBeLessThan(before);
    },
  };
}
