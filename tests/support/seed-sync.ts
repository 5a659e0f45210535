import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * The sync as the seed describes it, to the letter, so that a test can show where it loses what ours keeps: export
 * rewrites the file from the database, import is an upsert by `updated_at`, pre-commit exports and stages, post-merge
 * imports where the file changed, both are links into the working tree, and there is no merge driver.
 */
export interface SeedTask {
  readonly id: string;
  readonly title: string;
  readonly priority: number;
  readonly status: string;
  readonly assignee: string | null;
  readonly updated_at: string;
}

export function initSeed(root: string): void {
  mkdirSync(join(root, '.forge/hooks'), { recursive: true });
  writeFileSync(join(root, '.gitignore'), '.forge/forge.db\n');
  for (const [hook, script] of Object.entries(toScripts())) {
    writeFileSync(join(root, '.forge/hooks', hook), script);
    chmodSync(join(root, '.forge/hooks', hook), 0o755);
  }
  installSeedHooks(root);
  exportSeed(root);
}

/** The seed's own lines. They fail where `.git` is a file. */
export function installSeedHooks(root: string): void {
  const link = (hook: string): string => `ln -sf "../../.forge/hooks/${hook}" "$PWD/.git/hooks/${hook}"`;
  const script = `set -e; ${link('pre-commit')}; ${link('post-merge')}`;
  execFileSync('bash', ['-c', script], { cwd: root, stdio: 'pipe' });
}

export function listSeedTasks(root: string): SeedTask[] {
  using db = openSeed(root);
  const rows = db.prepare('SELECT line FROM tasks ORDER BY rowid').all() as { line: string }[];
  return rows.map(({ line }) => JSON.parse(line) as SeedTask);
}

export function saveSeedTask(root: string, task: SeedTask): void {
  using db = openSeed(root);
  upsert(db, task);
}

export function deleteSeedTask(root: string, id: string): void {
  using db = openSeed(root);
  db.prepare('DELETE FROM tasks WHERE id = ?').run(id);
}

export function exportSeed(root: string): void {
  const lines = listSeedTasks(root).map((task) => `${JSON.stringify(task)}\n`);
  writeFileSync(join(root, '.forge/tasks.jsonl'), lines.join(''));
}

/** The seed has two rules: of two lines with one id the last stands, or the one with the later `updated_at`. */
export function importSeed(root: string, rule: 'last line' | 'later update' = 'later update'): void {
  using db = openSeed(root);
  for (const line of readFileSync(join(root, '.forge/tasks.jsonl'), 'utf8').split('\n')) {
    if (line === '') continue;
    try {
      upsert(db, JSON.parse(line) as SeedTask, rule === 'later update');
    } catch {
      process.stderr.write('warning: skipped a malformed line\n');
    }
  }
}

function openSeed(root: string): DatabaseSync {
  const db = new DatabaseSync(join(root, '.forge/forge.db'));
  db.exec('CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY, updated_at TEXT, line TEXT)');
  return db;
}

function upsert(db: DatabaseSync, task: SeedTask, laterOnly = false): void {
  const condition = laterOnly ? 'WHERE excluded.updated_at > tasks.updated_at' : '';
  db.prepare(
    `INSERT INTO tasks VALUES (?, ?, ?) ON CONFLICT (id)
     DO UPDATE SET updated_at = excluded.updated_at, line = excluded.line ${condition}`,
  ).run(task.id, task.updated_at, JSON.stringify(task));
}

function toScripts(): Record<'pre-commit' | 'post-merge', string> {
  const forge = `'${process.execPath}' '${import.meta.filename}'`;
  const head = `#!/usr/bin/env bash
set -euo pipefail
FORGE_DIR="$(git rev-parse --show-toplevel)/.forge"
if [ ! -d "$FORGE_DIR" ]; then exit 0; fi
`;
  return {
    'pre-commit': `${head}${forge} export "$FORGE_DIR/.."\ngit add "$FORGE_DIR/tasks.jsonl"\n`,
    'post-merge': `${head}CHANGED=$(git diff-tree -r --name-only --no-commit-id ORIG_HEAD HEAD -- .forge/tasks.jsonl || true)
if [ -z "$CHANGED" ]; then exit 0; fi
${forge} import "$FORGE_DIR/.."
`,
  };
}

// What the seed's hooks call in the place of `npx forge`.
const [, script, command, root] = process.argv;
if (script === import.meta.filename && root !== undefined && existsSync(root)) {
  if (command === 'export') exportSeed(root);
  if (command === 'import') importSeed(root);
}
