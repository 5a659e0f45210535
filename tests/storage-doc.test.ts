import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { tempStore } from './support/temp-store.ts';

const PAGE = new URL('../docs/storage.md', import.meta.url);

it('docs/storage.md names every table, and no other', async () => {
  await using temp = await tempStore();
  using db = new DatabaseSync(temp.database, { readOnly: true });
  const rows = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  const tables = rows.map(({ name }) => String(name)).filter((name) => !name.startsWith('sqlite_'));
  const section = /\n\| table \|[^]*?\n\n/.exec(readFileSync(PAGE, 'utf8'))?.[0] ?? '';
  const cells = section.split('\n').flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)]);
  expect(new Set(cells.map(([, name]) => name))).toEqual(new Set(tables));
});
