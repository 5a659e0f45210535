import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { countOpencode } from './count-opencode.ts';

/** The columns of opencode 1.18 that are read. */
const TABLE = `CREATE TABLE session (id text PRIMARY KEY, parent_id text, cost real, tokens_input integer,
  tokens_output integer, tokens_reasoning integer, tokens_cache_read integer, tokens_cache_write integer)`;

async function home(sql: readonly string[]) {
  const folder = await tempFolder();
  mkdirSync(join(folder.path, '.local/share/opencode'), { recursive: true });
  using database = new DatabaseSync(join(folder.path, '.local/share/opencode/opencode.db'));
  for (const one of sql) database.exec(one);
  return folder;
}

describe('[A12] what opencode keeps of a session', () => {
  it('is counted with the sessions of its helpers, and without those of others', async () => {
    await using folder = await home([
      TABLE,
      `INSERT INTO session VALUES ('a', NULL, 0.5, 60, 10, 1, 40, 2), ('b', 'a', 0.25, 6, 1, 0, 4, 0),
        ('c', 'b', 0, 1, 1, 1, 1, 1), ('z', NULL, 9, 9, 9, 9, 9, 9)`,
    ]);
    expect(countOpencode({ env: { HOME: folder.path }, session_id: 'a' })).toEqual({
      input: 60 + 40 + 2 + 6 + 4 + 3,
      output: 11 + 1 + 2,
      cached: 45,
      cost_usd: 0.75,
    });
    expect(countOpencode({ env: { HOME: folder.path }, session_id: 'none' })).toBeUndefined();
  });

  it('is unknown where its agent has put something there that would run or wait here', async () => {
    const rows = `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)`;
    await using view = await home([
      `CREATE VIEW session AS ${rows} SELECT 'a' AS id, NULL AS parent_id, 0 AS cost, id AS tokens_input,
        0 AS tokens_output, 0 AS tokens_reasoning, 0 AS tokens_cache_read, 0 AS tokens_cache_write FROM n`,
    ]);
    await using computed = await home([
      TABLE.replace('cost real', "cost real AS (length(hex('a')))"),
      `INSERT INTO session VALUES ('a', NULL, 1, 1, 1, 1, 1)`,
    ]);
    await using pipe = await tempFolder();
    mkdirSync(join(pipe.path, '.local/share/opencode'), { recursive: true });
    execFileSync('/usr/bin/env', ['mkfifo', join(pipe.path, '.local/share/opencode/opencode.db')]);
    for (const { path } of [view, computed, pipe])
      expect(countOpencode({ env: { HOME: path }, session_id: 'a' })).toBeUndefined();
  });

  it('is unknown where the database is none, of another make, or not there', async () => {
    await using other = await home(['CREATE TABLE session (id text)']);
    await using none = await tempFolder();
    for (const env of [{ HOME: other.path }, { HOME: none.path }, {}])
      expect(countOpencode({ env, session_id: 'a' })).toBeUndefined();
  });
});
