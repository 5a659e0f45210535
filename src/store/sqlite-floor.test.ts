import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assertSqliteVersion, Database } from './sqlite/database.ts';

describe('the floor of SQLite', () => {
  it.each(['3.51.2', '3.50.9', '3.9.0', '2.99.99', '0'])('refuses %s', (version) => {
    expect(() => assertSqliteVersion(version)).toThrow(`SQLite ${version} is too old`);
  });

  it.each(['3.51.3', '3.51.10', '3.52.0', '4.0.0'])('takes %s', (version) => {
    expect(() => assertSqliteVersion(version)).not.toThrow();
  });

  it('is asked for when a database is opened, before there is a file', () => {
    const versions = Object.getOwnPropertyDescriptor(process, 'versions');
    const path = join(import.meta.dirname, 'never-made.db');
    try {
      Object.defineProperty(process, 'versions', { ...versions, value: { sqlite: '3.51.2' } });
      expect(() => new Database(path, { lock_timeout_ms: 1 })).toThrow('SQLite 3.51.2 is too old');
    } finally {
      if (versions !== undefined) Object.defineProperty(process, 'versions', versions);
    }
    expect(existsSync(path)).toBe(false);
  });
});
