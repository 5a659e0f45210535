import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { joinRecords } from '#domain/join-records.ts';
import { encodeRecord } from '#domain/record-codec.ts';
import { editRecord } from '#domain/task-changes.ts';
import { isDeleted, type TaskRecord } from '#domain/task-record.ts';
import { isForgeError } from '#kernel/errors.ts';
import {
  FIXTURES,
  issue,
  line,
  NOW,
  readFiles,
  readFixture,
  readIssues,
  ROOT,
} from '../../tests/support/tracker-tasks.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import * as tables from './trackers/field-tables.ts';
import { findLife, findPriority, readType } from './trackers/tracker-words.ts';
import { hashBase36 } from './trackers/tracker-ids.ts';
import { readTrackerTasks, type Tracker } from './read-tracker-tasks.ts';

/** The rows of the document's tables, by the heading and head row that they stand under. */
function documentTables(text: string): Map<string, [string, string][]> {
  const found = new Map<string, [string, string][]>();
  let heading = '';
  let rows: [string, string][] = [];
  for (const row of text.split('\n')) {
    if (row.startsWith('## ')) heading = row.slice(3);
    const cells = row.startsWith('|')
      ? row
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim())
      : undefined;
    if (cells === undefined) rows = [];
    else if (rows.length === 0) {
      rows = [['', '']];
      found.set(`${heading} ${found.size}: ${cells[0] ?? ''}`, rows);
    } else if (!(cells[0] ?? '').startsWith('---')) rows.push([cells[0] ?? '', cells.slice(1).join(' | ')]);
  }
  for (const list of found.values()) list.shift();
  return found;
}

function fieldTables(text: string): [string, string][][] {
  return [...documentTables(text)]
    .filter(([name]) => /: (field|section)$/.test(name))
    .map(([, rows]) => rows.map(([field, goes]) => [field.replaceAll('`', ''), goes]));
}

const IN_CODE = [
  tables.BEADS_FIELDS,
  tables.BEADS_DEPENDENCY_FIELDS,
  tables.BEADS_COMMENT_FIELDS,
  tables.BACKLOG_FIELDS,
  tables.BACKLOG_SECTIONS,
  tables.BACKLOG_COMMENT_FIELDS,
  tables.TASK_MASTER_FIELDS,
  tables.TASK_MASTER_TAG_FIELDS,
].map((table) => Object.entries(table));

describe('docs/import.md', () => {
  const text = readFileSync(join(ROOT, 'docs/import.md'), 'utf8');

  it('has the tables of the readers, row by row', () => {
    expect(fieldTables(text)).toEqual(IN_CODE);
  });

  it('would be caught with a row that is missing, added or changed', () => {
    for (const lie of [
      text.replace(/^\| `spec_id` .*\n/m, ''),
      text.replace(/^(\| `spec_id` .*\n)/m, '$1| `never_heard` | `title` |\n'),
      text.replace('kept in `metadata.beads.spec_id`', '`title`'),
    ]) {
      expect(lie).not.toBe(text);
      expect(fieldTables(lie)).not.toEqual(IN_CODE);
    }
  });

  it('says what the words mean', () => {
    const IMPLIED = { open: 'todo', in_progress: 'in_progress', closed: 'done' } as const;
    const status = (word: string): string => {
      const life = findLife(word);
      return life === undefined ? '' : `${life.status} | ${life.state ?? IMPLIED[life.status]}`;
    };
    const words = (name: string): [string, string][] =>
      [...documentTables(text)]
        .filter(([title]) => title.endsWith(name))
        .flatMap(([, rows]) => rows)
        .flatMap(([cell, goes]) =>
          [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']): [string, string] => [word, goes]),
        );
    const statuses = words('word for status');
    expect(statuses.length).toBeGreaterThan(30);
    expect(statuses).toEqual(statuses.map(([word]) => [word, status(word)]));
    const priorities = words('word for priority');
    expect(priorities.length).toBeGreaterThan(12);
    expect(priorities).toEqual(priorities.map(([word]) => [word, String(findPriority(word))]));
    const types = words('word for type').map(([word, goes]) => [
      word,
      goes === 'the same' ? word : goes.split(',')[0],
    ]);
    expect(types.length).toBeGreaterThan(8);
    expect(types).toEqual(types.map(([word = '']) => [word, readType(word).type]));
  });
});

describe('beads', () => {
  const read = readFixture('beads');
  const full = line(read, 'bd-full');
  const source = readFileSync(join(ROOT, 'tests/fixtures/import/beads/.beads/issues.jsonl'), 'utf8');

  it('has every field of the table in its fixture', () => {
    const names = new Set(
      source
        .split('\n')
        .flatMap((text) => (text.endsWith('}') ? Object.keys(JSON.parse(text) as object) : [])),
    );
    expect(Object.keys(tables.BEADS_FIELDS).filter((name) => !names.has(name))).toEqual([]);
  });

  it('puts fields where the table says', () => {
    expect(full).toMatchObject({
      id: `fg-${hashBase36('beads', 'bd-full').slice(0, 6)}`,
      title: 'Read every field',
      description:
        'What it is.\n\n## Design\n\nHow it works.\n\n## Acceptance criteria\n\n- it reads\n\n## Notes\n\nSeen on Monday.',
      status: 'in_progress',
      priority: 0,
      type: 'task',
      assignee: 'ada',
      labels: ['chore', 'core', 'import'],
      github_issue: 42,
      created_at: '2026-01-05T16:30:15.123Z',
      created_by: 'grace',
      updated_at: '2026-01-06T08:00:00.500Z',
      closed_at: null,
    });
    expect(full.metadata).toMatchObject({ beads_id: 'bd-full', files: ['a.ts'] });
    expect(Object.hasOwn(full.metadata, '__proto__')).toBe(true);
    expect(full.comments).toEqual([
      expect.objectContaining({ author: 'ada', body: 'First look.', created_at: '2026-01-05T18:00:00.000Z' }),
      expect.objectContaining({
        author: 'grace',
        body: 'Second look.',
        created_at: '2026-01-05T18:00:00.000Z',
      }),
    ]);
    expect(line(read, 'bd-done')).toMatchObject({
      status: 'closed',
      closed_at: '2026-01-05T08:00:00.000Z',
      close_reason: 'Fixed in 1f2e',
      created_by: 'beads',
      type: 'feature',
    });
    expect(line(read, 'bd-plain').github_issue).toBe(9);
  });

  it('keeps what has no field, and says so', () => {
    const kept = Object.entries(tables.BEADS_FIELDS).filter(([, goes]) => goes.startsWith('kept'));
    const original = JSON.parse(source.split('\n')[1] ?? '') as Record<string, unknown>;
    for (const [name] of kept) {
      expect(full.metadata.beads).toHaveProperty([name], original[name]);
      expect(read.notes).toContainEqual({
        where: 'bd-full',
        field: name,
        what: `kept in metadata.beads.${name}`,
      });
    }
    expect(Object.keys(full.metadata.beads as object).sort()).toEqual(
      [...kept.map(([name]) => name), 'external_ref', 'dependencies', 'future_field', 'missing_links'].sort(),
    );
    for (const field of ['dependency_count', 'dependent_count', 'comment_count', 'notes_preview']) {
      expect(read.notes).toContainEqual({ where: 'bd-full', field, what: 'follows from the rest; left out' });
    }
  });

  it('turns edges into parents and dependencies', () => {
    const id = (theirs: string): string | undefined => read.ids.get(theirs);
    expect(full.parent_id).toBe(id('bd-epic'));
    expect(full.dependencies).toHaveLength(5);
    expect(full.dependencies).toEqual(
      expect.arrayContaining([
        { id: id('bd-plain'), type: 'blocks' },
        { id: id('bd-plain'), type: 'related' },
        { id: id('bd-done'), type: 'discovered-from' },
        { id: id('bd-done'), type: 'related' },
        { id: id('bd-old'), type: 'blocks' },
      ]),
    );
    const edges = (full.metadata.beads as { dependencies: object[] }).dependencies;
    expect(edges[1]).toEqual({
      depends_on_id: 'bd-plain',
      type: 'blocks',
      created_at: '2026-01-05T16:32:00Z',
      created_by: 'grace',
      metadata: '{"why":"order"}',
      thread_id: 't-1',
    });
    expect(full.metadata.beads).toMatchObject({ missing_links: ['blocks:bd-elsewhere'] });
    expect(line(read, 'bd-old.1').parent_id).toBe(id('bd-old'));
  });

  it('reads the fields of older versions', () => {
    const old = line(read, 'bd-old');
    expect(old).toMatchObject({
      status: 'in_progress',
      state: 'blocked',
      parent_id: read.ids.get('bd-epic'),
    });
    expect(old.metadata.beads).toMatchObject({
      replies_to: 'bd-plain',
      relates_to: ['bd-done'],
      duplicate_of: 'bd-epic',
      superseded_by: 'bd-plain',
      external_ref: 'jira-ABC',
    });
    expect((old.dependencies as { type: string }[]).map(({ type }) => type)).toEqual([
      'related',
      'related',
      'related',
    ]);
    expect(line(read, 'bd-old.1')).toMatchObject({ status: 'open', state: 'backlog', labels: ['story'] });
  });

  it('takes a tombstone as a deleted task', () => {
    const gone = read.records.find((record) => record.id === read.ids.get('bd-gone')) as TaskRecord;
    expect(isDeleted(gone)).toBe(true);
    expect(encodeRecord(gone)).not.toContain('secret');
    expect([...gone.comments.values()].map(({ body }) => body)).toEqual([
      'Deleted in beads.\ndeleted_by: ada\ndelete_reason: not needed\noriginal_type: bug',
    ]);
  });

  it('notes broken lines and records that are no issues, and reads the rest', () => {
    expect(read.records).toHaveLength(7);
    expect(read.notes).toContainEqual({
      where: 'issues.jsonl:4',
      what: expect.stringContaining('cannot be read'),
    });
    expect(read.notes).toContainEqual({
      where: 'issues.jsonl:10',
      field: '_type',
      what: '"memory" is not an issue; left out',
    });
    expect(read.notes).toContainEqual({ where: 'interactions.jsonl', what: 'holds no issues; left out' });
  });

  it('reads both sides of conflict markers and takes the later line of each issue', async () => {
    const { records, notes } = await readIssues(
      '<<<<<<< HEAD',
      issue({ id: 'bd-1', title: 'Ours', updated_at: '2026-01-03T00:00:00Z' }),
      '=======',
      issue({ id: 'bd-1', title: 'Theirs' }),
      '>>>>>>> branch',
    );
    expect(records.map((record) => record.fields.get('title')?.value)).toEqual(['Ours']);
    expect(notes.filter(({ what }) => what.startsWith('cannot be read'))).toHaveLength(3);
  });

  it('keeps two issues that share an id apart', async () => {
    const { records, notes } = await readIssues(
      issue({ id: 'bd-1', title: 'Older' }),
      issue({ id: 'bd-1', title: 'Younger', created_at: '2026-01-01T00:00:01Z' }),
    );
    expect(new Set(records.map(({ id }) => id)).size).toBe(2);
    expect(notes.some(({ what }) => what.includes('"Younger" has the id of an older task'))).toBe(true);
  });

  it('finds the issues by folder, project or file', async () => {
    await using folder = await tempFolder();
    await folder.write('.beads/beads.jsonl', `${issue({ id: 'bd-1' })}\n`);
    for (const path of ['', '.beads', '.beads/beads.jsonl']) {
      const found = readTrackerTasks('beads', join(folder.path, path), { idPrefix: 'fg', now: NOW });
      expect([...found.ids.keys()]).toEqual(['bd-1']);
    }
  });
});

describe('Backlog.md', () => {
  const read = readFixture('backlog-md');
  const full = line(read, 'TASK-1');
  const source = readFileSync(
    join(ROOT, 'tests/fixtures/import/backlog-md/backlog/tasks/task-1 - Read-every-field.md'),
    'utf8',
  );

  it('has every field, section and comment field of the tables in its fixture', () => {
    const names = new Set([...source.matchAll(/^(?:## )?([^:\n]+?)(?::.*)?$/gm)].map(([, name]) => name));
    for (const table of [tables.BACKLOG_FIELDS, tables.BACKLOG_SECTIONS, tables.BACKLOG_COMMENT_FIELDS]) {
      expect(Object.keys(table).filter((name) => !names.has(name))).toEqual([]);
    }
  });

  it('puts fields and sections where the tables say', () => {
    expect(full).toMatchObject({
      id: `fg-${hashBase36('backlog-md', 'task-1').slice(0, 6)}`,
      title: 'Read every field: all of them',
      description: [
        'What it is.',
        '## Acceptance Criteria\n- [x] #1 It reads\n- [ ] #2 It keeps',
        '## Definition of Done\n- [ ] #1 Tests pass',
        '## Implementation Plan',
        '1. Read',
        '## Implementation Notes',
        'Seen on Monday.',
        '## Final Summary',
        'It reads.',
        '## A heading of our own',
        'Stays.',
      ].join('\n\n'),
      status: 'in_progress',
      priority: 1,
      type: 'task',
      assignee: 'ada',
      parent_id: read.ids.get('task-4'),
      labels: ['chore', 'core', 'milestone:Spring release', 'with, comma'],
      created_at: '2026-01-05T09:30:00.000Z',
      updated_at: '2026-01-06T10:00:00.000Z',
    });
    expect(full.dependencies).toEqual(
      expect.arrayContaining([
        { id: read.ids.get('task-2'), type: 'blocks' },
        { id: read.ids.get('task-3'), type: 'blocks' },
      ]),
    );
    expect(full.comments).toEqual([
      expect.objectContaining({
        author: 'ada',
        body: 'First look.\n\nWith a second paragraph.',
        created_at: '2026-01-05T12:00:00.000Z',
      }),
      expect.objectContaining({ author: 'backlog-md', body: 'Second look.' }),
    ]);
    expect(line(read, 'task-1.1').parent_id).toBe(full.id);
  });

  it('keeps what has no field', () => {
    expect(full.metadata).toEqual({
      backlog_md_id: 'TASK-1',
      backlog_md: {
        reporter: '@grace',
        assignee: ['@ada', 'grace'],
        milestone: 'm-0',
        references: ['https://example.com/a?b=1#c'],
        documentation: ['docs/a.md'],
        modified_files: ['src/a.ts'],
        branch: 'tasks/task-1',
        ordinal: 1000,
        onStatusChange: 'echo "$NEW_STATUS"',
        due_date: '2026-02-01',
        planned_start: '2026-01-07',
        planned_end: '2026-01-09',
        actual_start: '2026-01-08',
        actual_end: '2026-01-10',
        sprint: '12',
      },
    });
    const kept = Object.entries(tables.BACKLOG_FIELDS).filter(([, goes]) => goes.startsWith('kept'));
    for (const [name] of kept) expect(full.metadata.backlog_md).toHaveProperty([name]);
  });

  it('reads what a folder, a column and a word of the project mean', () => {
    expect(line(read, 'task-2')).toMatchObject({ status: 'in_progress', type: 'feature', assignee: 'ada' });
    expect(line(read, 'task-2').description).toBe('No sections here.');
    expect(line(read, 'task-4')).toMatchObject({ status: 'closed', priority: 2 });
    expect(line(read, 'task-3')).toMatchObject({ status: 'closed', closed_at: '2026-01-03T08:00:00.000Z' });
    expect(line(read, 'draft-1')).toMatchObject({ status: 'open', state: 'backlog', labels: ['draft'] });
    expect(line(read, 'task-5')).toMatchObject({ status: 'closed', state: 'cancelled' });
    expect(line(read, 'task-1.1')).toMatchObject({
      title: 'A title so long that it was folded over two lines of the file',
      priority: 4,
      created_at: '2026-01-05T00:00:00.000Z',
    });
    expect(line(read, 'task-1.1').metadata.backlog_md).toMatchObject({ missing_links: ['blocks:9'] });
    expect(read.notes).toContainEqual({
      where: 'tasks/notes.md',
      what: expect.stringContaining('it is no task'),
    });
    expect(read.notes.map(({ where }) => where)).toEqual(expect.arrayContaining(['docs', 'milestones']));
  });

  it('finds a folder that the config names', async () => {
    const read = await readFiles('backlog-md', {
      'backlog.config.yml': 'backlog_directory: work/items\n',
      'work/items/tasks/task-1 - A.md':
        '---\r\nid: task-1\r\ntitle: A\r\ncreated_date: 2026-01-01\r\n---\r\n\r\nOne\r\ntwo\r\n',
    });
    expect(line(read, 'task-1')).toMatchObject({ title: 'A', description: 'One\ntwo' });
  });

  it('keeps two tasks that share an id apart', async () => {
    const file = (title: string): string =>
      `---\nid: task-1\ntitle: ${title}\ncreated_date: 2026-01-01\n---\n`;
    const { records, ids } = await readFiles('backlog-md', {
      'tasks/a.md': file('A'),
      'tasks/b.md': file('B'),
    });
    expect(records.map((record) => record.fields.get('title')?.value)).toEqual(['A', 'B']);
    expect([...ids.keys()]).toEqual(['task-1', 'task-1 (B)']);
    expect(new Set(records.map(({ id }) => id)).size).toBe(2);
  });
});

describe('task-master', () => {
  const read = readFixture('task-master');
  const full = line(read, '2');
  const file = JSON.parse(
    readFileSync(join(ROOT, 'tests/fixtures/import/task-master/.taskmaster/tasks/tasks.json'), 'utf8'),
  ) as { master: { tasks: Record<string, unknown>[]; metadata: Record<string, unknown> } };
  const original = file.master.tasks[1] as Record<string, unknown>;

  it('has every field of the tables in its fixture', () => {
    const names = [original, ...(original.subtasks as object[])].flatMap((task) => Object.keys(task));
    expect(Object.keys(tables.TASK_MASTER_FIELDS).filter((name) => !names.includes(name))).toEqual([]);
    expect(Object.keys(file.master.metadata).sort()).toEqual(
      Object.keys(tables.TASK_MASTER_TAG_FIELDS).sort(),
    );
  });

  it('puts fields where the table says', () => {
    expect(full).toMatchObject({
      id: `fg-${hashBase36('task-master', 'master/2').slice(0, 6)}`,
      title: 'Read every field',
      description: `What it is.\n\n## Details\n\n${String(original.details)}\n\n## Test strategy\n\nTry it.\n\n## Acceptance criteria\n\n- it reads\n- it keeps\n\n## Implementation approach\n\nSlowly.`,
      status: 'in_progress',
      priority: 1,
      assignee: 'ada',
      labels: ['core'],
      created_at: '2026-03-01T08:00:00.000Z',
      updated_at: '2026-03-04T05:06:07.000Z',
    });
    expect(full.metadata).toMatchObject({ task_master_id: '2', ticket: 'ACME-1' });
    expect(full.dependencies).toEqual(
      expect.arrayContaining(['1', '3'].map((theirs) => ({ id: read.ids.get(theirs), type: 'blocks' }))),
    );
  });

  it('keeps what has no field', () => {
    const kept = Object.entries(tables.TASK_MASTER_FIELDS).filter(([, goes]) => goes.startsWith('kept'));
    for (const [name] of kept) expect(full.metadata.task_master).toHaveProperty([name], original[name]);
    expect(Object.keys(full.metadata.task_master as object).sort()).toEqual(
      [...kept.map(([name]) => name), 'futureField', 'tag', 'tag_metadata'].sort(),
    );
    const { description, name, projectName, version, source, tags } = file.master.metadata;
    expect(full.metadata.task_master).toMatchObject({
      tag: 'master',
      tag_metadata: { description, name, projectName, version, source, tags },
    });
    for (const field of ['taskCount', 'completedCount']) {
      expect(read.notes).toContainEqual({
        where: 'tag master',
        field,
        what: 'follows from the rest; left out',
      });
    }
  });

  it('makes tasks of subtasks and reads what their dependencies mean', () => {
    const id = (theirs: string): string | undefined => read.ids.get(theirs);
    expect(line(read, '2.1')).toMatchObject({ parent_id: full.id, status: 'closed', priority: 1 });
    expect(line(read, '2.2')).toMatchObject({ parent_id: full.id, priority: 3 });
    expect(line(read, '2.2').dependencies).toEqual(
      expect.arrayContaining([
        { id: id('2.1'), type: 'blocks' },
        { id: id('3.1'), type: 'blocks' },
      ]),
    );
    expect(line(read, '2.2').metadata.task_master).toMatchObject({ missing_links: ['blocks:99'] });
    expect(line(read, '3.1').dependencies).toEqual([{ id: full.id, type: 'blocks' }]);
  });

  it('reads the words of status and priority, and the times of the tag', () => {
    expect(line(read, '1')).toMatchObject({
      status: 'closed',
      priority: 0,
      created_at: '2026-02-01T00:00:00.000Z',
      updated_at: '2026-03-03T00:00:00.000Z',
      created_by: 'task-master',
    });
    expect(line(read, '3')).toMatchObject({ status: 'in_progress', state: 'review' });
    expect(line(read, '3.1')).toMatchObject({ status: 'in_progress', state: 'blocked' });
    expect(line(read, '4')).toMatchObject({ status: 'open', state: 'backlog', priority: 2 });
    expect(line(read, '4').metadata.task_master).toMatchObject({ priority: 'someday' });
    expect(line(read, '5')).toMatchObject({ status: 'closed', state: 'cancelled' });
  });

  it('makes labels of tags, whose ids are their own', () => {
    expect(line(read, 'feature-x/1')).toMatchObject({
      title: 'Same number, other tag',
      labels: ['feature-x'],
    });
    expect(read.ids.get('feature-x/1')).not.toBe(read.ids.get('1'));
  });

  it('reads a file of before there were tags, with the ids that its tasks have after', () => {
    const old = readFixture('task-master', 'task-master/old');
    expect(old.ids.get('1')).toBe(read.ids.get('1'));
    expect(line(old, '1')).toMatchObject({
      title: 'Old',
      priority: 3,
      created_at: '2000-01-01T00:00:00.000Z',
    });
    expect(line(old, '2').dependencies).toEqual([{ id: old.ids.get('1'), type: 'blocks' }]);
    expect(old.notes).toContainEqual({
      where: '1',
      field: 'created_at',
      what: 'is not known; 2000-01-01 stands for it',
    });
  });
});

describe('importing again', () => {
  const SOURCES = [
    ['beads', 'beads'],
    ['backlog-md', 'backlog-md'],
    ['task-master', 'task-master'],
    ['task-master', 'task-master/old'],
  ] as const;

  it.each(SOURCES)(
    '%s (%s) gives the same records whatever the clock, and joining them changes nothing',
    (tool, path) => {
      const first = readFixture(tool, path).records;
      const again = readTrackerTasks(tool, join(FIXTURES, path), {
        idPrefix: 'fg',
        now: NOW + 86_400_000,
      }).records;
      expect(again.map((record) => encodeRecord(record))).toEqual(
        first.map((record) => encodeRecord(record)),
      );
      first.forEach((record, at) => {
        expect(encodeRecord(joinRecords(record, again[at] as TaskRecord))).toBe(encodeRecord(record));
      });
    },
  );

  it('takes what is newer there, and leaves what is newer here', async () => {
    const [before] = (await readIssues(issue({ id: 'bd-1' }))).records as [TaskRecord];
    const later = issue({
      id: 'bd-1',
      title: 'New title',
      status: 'closed',
      closed_at: '2026-01-05T00:00:00Z',
      updated_at: '2026-01-05T00:00:00Z',
    });
    const [after] = (await readIssues(later)).records as [TaskRecord];
    const joined = joinRecords(before, after);
    expect(encodeRecord(joined)).toBe(encodeRecord(after));
    const edited = editRecord(joined, { fields: new Map([['title', 'Ours']]) }, Date.UTC(2026, 0, 6));
    expect(joinRecords(edited, after).fields.get('title')?.value).toBe('Ours');
  });

  it('takes a link to a task that was not there before', async () => {
    const first = issue({ id: 'bd-1', dependencies: [{ depends_on_id: 'bd-2', type: 'blocks' }] });
    const [before] = (await readIssues(first)).records as [TaskRecord];
    const second = issue({ id: 'bd-2', created_at: '2026-01-03T00:00:00Z' });
    const [after] = (await readIssues(first, second)).records as [TaskRecord];
    expect([...before.dependencies.elements]).toEqual([]);
    expect(encodeRecord(joinRecords(before, after))).toBe(encodeRecord(after));
    expect(after.dependencies.elements.size).toBe(1);
  });

  it('gives a task the same id when others join it, and a longer one to the younger of a clash', async () => {
    // Found by trying: the first two of bd-0, bd-1, … with the same six characters.
    const seen = new Map<string, string>();
    let clash: [string, string] | undefined;
    for (let n = 0; clash === undefined; n += 1) {
      const start = hashBase36('beads', `bd-${n}`).slice(0, 6);
      const other = seen.get(start);
      if (other !== undefined) clash = [other, `bd-${n}`];
      seen.set(start, `bd-${n}`);
    }
    const [first, second] = clash;
    const alone = await readIssues(issue({ id: first }));
    const both = await readIssues(
      issue({ id: second, created_at: '2026-01-01T00:00:01Z' }),
      issue({ id: first }),
    );
    expect(both.ids.get(first)).toBe(alone.ids.get(first));
    expect(both.ids.get(second)).toBe(`fg-${hashBase36('beads', second).slice(0, 7)}`);
  });

  it('leaves an id that is one of ours', async () => {
    const { ids } = await readIssues(
      issue({ id: 'fg-a3f8' }),
      issue({ id: 'fg-a3f8.1' }),
      issue({ id: 'bd-a3f8' }),
    );
    expect(ids.get('fg-a3f8')).toBe('fg-a3f8');
    expect(ids.get('fg-a3f8.1')).toMatch(/^fg-[0-9a-z]{6}$/);
    expect(ids.get('bd-a3f8')).toMatch(/^fg-[0-9a-z]{6}$/);
  });
});

describe('a path that holds nothing of the tool', () => {
  const HINTS = {
    beads: /\.beads|bd export/,
    'backlog-md': /tasks\//,
    'task-master': /tasks\.json/,
  } as const;

  it.each(Object.entries(HINTS))('%s: says what to name', async (tool, hint) => {
    await using folder = await tempFolder();
    await folder.write('empty/readme.txt', '');
    for (const path of ['nowhere', 'empty', 'empty/readme.txt/deeper']) {
      const error = failure(() =>
        readTrackerTasks(tool as Tracker, join(folder.path, path), { idPrefix: 'fg', now: NOW }),
      );
      expect(error).toMatchObject({ code: 'not_found', hint: expect.stringMatching(hint) });
    }
  });

  it('refuses a tasks.json that is none', async () => {
    for (const text of ['{"tasks":', '7', '{"compilerOptions":{}}']) {
      await using folder = await tempFolder();
      await folder.write('tasks.json', text);
      const error = failure(() => readTrackerTasks('task-master', folder.path, { idPrefix: 'fg', now: NOW }));
      expect(error).toMatchObject({ code: 'invalid_input', hint: expect.stringContaining('.taskmaster') });
    }
  });
});

function failure(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    if (isForgeError(error)) return error;
    throw error;
  }
  return undefined;
}
