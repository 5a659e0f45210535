import { appendFileSync, readdirSync, renameSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { OutputOf } from '#contract/declare.ts';
import type { examineProject } from '#contract/sync-operations.ts';
import type { Task } from '#contract/task.ts';
import type { ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { shareOf } from '../support/share-of.ts';

type Examined = OutputOf<typeof examineProject>;

interface Wrong {
  /** What a person did with another program; `id` is a task with a label. */
  readonly sql: (id: string) => string;
  /** What the doctor says of it. */
  readonly told: RegExp;
  /** Commands that cannot answer, and name the doctor. The others answer. */
  readonly refused: readonly (readonly string[])[];
}

const READS = [
  ['ready'],
  ['task', 'list'],
  ['search', '--query', 'x'],
  ['task', 'list', '--label', 'red'],
] as const;
const ALL = [...READS, ['task', 'create', 'Never']];

const WRONG: Readonly<Record<string, Wrong>> = {
  'a dropped index': {
    sql: () => 'DROP INDEX idx_tasks_ready',
    told: /index idx_tasks_ready is missing/,
    refused: [['ready']],
  },
  'a dropped trigger': {
    sql: () => 'DROP TRIGGER trg_blocker_changed',
    told: /trigger trg_blocker_changed is missing/,
    refused: [],
  },
  'a dropped table': {
    sql: () => 'DROP TABLE comments',
    told: /table comments is missing/,
    refused: [['export']],
  },
  'a dropped table that every command needs': {
    sql: () => 'DROP TABLE store_facts',
    told: /table store_facts is missing/,
    refused: ALL,
  },
  'a renamed column': {
    sql: () => 'ALTER TABLE tasks RENAME COLUMN description TO text',
    told: /table tasks has no column description/,
    refused: ALL,
  },
  'deleted rows': {
    sql: (id) => `DELETE FROM tasks WHERE id = '${id}'`,
    told: /in the local replica, but not in the database: \S+/,
    refused: [],
  },
  'a schema number that was set back': {
    sql: () => 'PRAGMA user_version = 3',
    told: /the schema number says 3, but migration \d+ was done/,
    refused: ALL,
  },
  'a schema number one lower': {
    sql: () => 'PRAGMA user_version = 11',
    told: /the schema number says 11, but migration 12 was done/,
    refused: [['task', 'create', 'Never']],
  },
  '[T14-10] deleted rows of deleted tasks': {
    sql: () => 'DELETE FROM deleted_tasks',
    told: /in the local replica, but not in the database: the deletion of \S+/,
    refused: [],
  },
  '[T14-10] deleted rows of moves': {
    sql: () => 'DELETE FROM transitions',
    told: /in the local replica, but not in the database: moves of \S+/,
    refused: [],
  },
  '[T14-16] an empty table of formats': {
    sql: () => 'DELETE FROM format',
    told: /table format says nothing/,
    refused: [],
  },
  '[T14-16] an empty table of migrations': {
    sql: () => 'DELETE FROM migrations',
    told: /table migrations names 0 of 12 migrations/,
    refused: [],
  },
  'labels that are not JSON': {
    sql: (id) => `UPDATE tasks SET labels = 'not json' WHERE id = '${id}'`,
    told: /rows that cannot be read: \S+/,
    refused: [['ready'], ['task', 'list'], ['task', 'list', '--label', 'red'], ['export']],
  },
};

describe.each(shareOf(Object.entries(WRONG), 2))(
  '[D12] a database with %s',
  (_name, { sql, told, refused }) => {
    it('is told by the commands that cannot answer, compared by the doctor, and made anew without a loss', async () => {
      await using project = await forgeProjectHere();
      const { id, before } = await fill(project);
      change(project, sql(id));
      for (const argv of refused) {
        const { exit, stdout } = await project.run(...argv, '--json');
        const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
        expect({ argv, exit, code: error.code }).toEqual({ argv, exit: 1, code: 'store_corrupt' });
        expect(error.message).toMatch(/^The task database is not as Forge made it: /);
        expect(error.hint).toContain('forge doctor --rebuild');
      }
      const doctor = await project.run('doctor', '--json');
      expect(doctor.exit).toBe(1);
      const looked = JSON.parse(doctor.stdout) as Examined;
      const finding = looked.findings.find(({ name }) => name === 'database');
      expect(finding).toMatchObject({ state: 'failed', hint: 'forge doctor --rebuild' });
      expect(finding?.message).toMatch(told);
      expect(looked.healthy).toBe(false);
      const { stderr } = await project.run('doctor', '--fix');
      expect(stderr).toContain('The task database was made anew from the local replica: 3 tasks');
      expect(await shown(project)).toEqual(before);
      expect((await project.json<Examined>('doctor')).healthy).toBe(true);
      expect((await project.run('task', 'create', 'Afterwards')).exit).toBe(0);
    });
  },
);

describe('[D12] forge doctor --rebuild', () => {
  it('keeps what only the rows say, tells it, and tells how to put the old file back', async () => {
    await using project = await forgeProjectHere();
    const { id } = await fill(project);
    const made = '2026-01-01T00:00:00.000Z';
    change(
      project,
      `UPDATE tasks SET title = 'By SQL', updated_at = '${made}' WHERE id = '${id}';
       INSERT INTO tasks (id, title, created_at, created_by, updated_at) VALUES ('fg-sqla', 'Added by SQL', '${made}', 'ann', '${made}');
       DROP INDEX idx_tasks_ready`,
    );
    const { stderr } = await project.run('doctor', '--rebuild');
    expect(stderr).toContain('made anew from the local replica: 4 tasks');
    expect(stderr).toMatch(/Kept as its rows had them, and told the replica: .*fg-sqla/);
    expect(stderr).toMatch(/To put it back, .* mv forge\.db\.replaced-\S+ forge\.db/);
    expect(await project.json<Task>('task', 'show', id)).toMatchObject({ title: 'By SQL' });
    expect(await project.json<Task>('task', 'show', 'fg-sqla')).toMatchObject({ title: 'Added by SQL' });
    const store = join(project.path, '.git/forge');
    const [aside = ''] = readdirSync(store).filter((name) => /replaced-[^.]*Z$/.test(name));
    const leftovers = (await project.json<Examined>('doctor')).findings.find(
      ({ name }) => name === 'leftovers',
    );
    expect(leftovers).toMatchObject({ state: 'warning', message: expect.stringContaining(aside) as string });
    renameSync(join(store, aside), join(store, 'forge.db'));
    using db = new DatabaseSync(join(store, 'forge.db'), { readOnly: true });
    expect(db.prepare("SELECT title FROM tasks WHERE id = 'fg-sqla'").get()).toEqual({
      title: 'Added by SQL',
    });
  });

  it('[T14-3] [T14-5] brings back what can be read where the replica is empty too, and says what to keep', async () => {
    await using project = await forgeProjectHere();
    const { id } = await fill(project);
    const before = await project.json<Task[]>('task', 'list');
    change(project, `DROP TABLE comments; UPDATE tasks SET labels = '{x' WHERE id = '${id}'`);
    truncateSync(join(project.path, '.git/forge/tasks.jsonl'), 0);
    const { stderr } = await project.run('doctor', '--fix');
    expect(stderr).toContain('made anew from the local replica: 3 tasks');
    expect(stderr).toContain(`Only in the database before it, because it cannot be read: ${id} (labels)`);
    const after = await project.json<Task[]>('task', 'list');
    const lost = { labels: [], updated_at: expect.any(String) as string };
    expect(after).toEqual(before.map((task) => (task.id === id ? { ...task, ...lost } : task)));
    const { healthy, findings } = await project.json<Examined>('doctor');
    expect(healthy).toBe(true);
    expect(findings.find(({ name }) => name === 'leftovers')?.hint).toMatch(/^Keep them; look with sqlite3 /);
  });

  it('says which rows were changed by SQL, and is not alarmed by it', async () => {
    await using project = await forgeProjectHere();
    const { id } = await fill(project);
    change(project, `UPDATE tasks SET priority = 0 WHERE id = '${id}'`);
    const { healthy, findings } = await project.json<Examined>('doctor');
    expect(healthy).toBe(true);
    expect(findings.find(({ name }) => name === 'rows')).toMatchObject({
      state: 'warning',
      message: expect.stringContaining(id) as string,
    });
  });

  it('takes no line for a change by SQL that another program put into the replica', async () => {
    await using project = await forgeProjectHere();
    const line = {
      title: 'From elsewhere',
      id: 'fg-else',
      status: 'open',
      created_at: '2026-01-01T00:00:00.000Z',
      created_by: 'bob',
      updated_at: '2026-01-01T00:00:00.000Z',
    };
    appendFileSync(join(project.path, '.git/forge/tasks.jsonl'), `${JSON.stringify(line)}\n`);
    expect(await project.json<Task>('task', 'show', 'fg-else')).toMatchObject({ title: 'From elsewhere' });
    const { findings } = await project.json<Examined>('doctor');
    expect(findings.filter(({ name }) => name === 'rows')).toEqual([]);
    expect(findings.find(({ name }) => name === 'database')).toMatchObject({ state: 'ok' });
  });

  it('loses nothing where the replica is gone or was cut, and where the database is', async () => {
    for (const gone of ['tasks.jsonl', 'forge.db']) {
      await using project = await forgeProjectHere();
      const { before } = await fill(project);
      renameSync(join(project.path, '.git/forge', gone), join(project.path, 'away'));
      expect((await project.run('doctor', '--rebuild')).exit).toBe(0);
      expect(await shown(project)).toEqual(before);
    }
  });
});

async function fill(project: ForgeProject): Promise<{ id: string; before: unknown }> {
  const { id } = await project.create('One', '--label', 'red');
  const { id: other } = await project.create('Two');
  await project.json('dep', 'add', other, id);
  await project.json('task', 'comment', id, 'A remark');
  const { id: third } = await project.create('Three');
  await project.json('task', 'close', third, '--reason', 'done');
  const { id: gone } = await project.create('Four');
  await project.json('task', 'delete', gone);
  return { id, before: await shown(project) };
}

/** Everything that commands show of the tasks, with their versions and histories. */
async function shown(project: ForgeProject): Promise<unknown> {
  const tasks = await project.json<{ id: string }[]>('task', 'list');
  return Promise.all(
    tasks.map(async ({ id }) => ({
      task: await project.json('task', 'show', id),
      comments: await project.json('task', 'comments', id),
    })),
  );
}

function change(project: ForgeProject, sql: string): void {
  using db = new DatabaseSync(join(project.path, '.git/forge/forge.db'), {
    enableForeignKeyConstraints: false,
  });
  db.exec(sql);
}
