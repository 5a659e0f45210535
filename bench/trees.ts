import { DatabaseSync } from 'node:sqlite';
import { taskId } from './fill-store.ts';
import { FORGE, makeProject, measureCommands, temporaryFolder, type Result } from './measure.ts';

const DENSE = 500;
const CHAIN = 100_000;

/** Shapes that break a naive tree: every task waits for all before it; a chain of 100,000. */
export function benchTrees(): Result[] {
  using dense = temporaryFolder();
  using chain = temporaryFolder();
  const pairs = (DENSE * (DENSE - 1)) / 2;
  insertGraph(makeProject(dense.path), DENSE, (i) => Array.from({ length: i }, (_, j) => j));
  insertGraph(makeProject(chain.path), CHAIN, (i) => (i === 0 ? [] : [i - 1]));
  const tree = (cwd: string, last: number) =>
    measureCommands(
      {
        node: ['-e', '0'],
        json: [FORGE, 'dep', 'tree', taskId(last), '--json'],
        text: [FORGE, 'dep', 'tree', taskId(last)],
      },
      { cwd, rounds: 5 },
    );
  const denseCosts = tree(dense.path, DENSE - 1);
  const chainCosts = tree(chain.path, CHAIN - 1);
  const result = (
    what: string,
    cost: { ms: number; rss_kb: number },
    node: { ms: number; rss_kb: number },
  ): Result[] => [
    {
      what: `${what}, time`,
      baseline: '`node -e 0`',
      ratio: cost.ms / node.ms,
      budget: 40,
      sense: 'at most',
      figures: `${cost.ms.toFixed(0)} ms / ${node.ms.toFixed(0)} ms`,
    },
    {
      what: `${what}, peak memory`,
      baseline: '`node -e 0`',
      ratio: cost.rss_kb / node.rss_kb,
      budget: 8,
      sense: 'at most',
      figures: `${(cost.rss_kb / 1024).toFixed(0)} MB / ${(node.rss_kb / 1024).toFixed(0)} MB`,
    },
  ];
  return [
    ...result(
      `\`dep tree --json\`, dense graph of ${DENSE} tasks and ${pairs.toLocaleString('en')} edges`,
      denseCosts.json,
      denseCosts.node,
    ),
    ...result('`dep tree`, the same as text', denseCosts.text, denseCosts.node),
    ...result(
      `\`dep tree --json\`, chain of ${CHAIN.toLocaleString('en')} (cut at depth 1,000)`,
      chainCosts.json,
      chainCosts.node,
    ),
    ...result('`dep tree`, the same as text', chainCosts.text, chainCosts.node),
  ];
}

function insertGraph(database: string, count: number, blockersOf: (i: number) => readonly number[]): void {
  const db = new DatabaseSync(database);
  db.exec('PRAGMA synchronous = OFF; BEGIN');
  for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all())
    db.exec(`DROP TRIGGER ${String(name)}`);
  const task = db.prepare(
    "INSERT INTO tasks (id, title, created_at, created_by, updated_at) VALUES (?, ?, ?, 'bench', ?)",
  );
  const edge = db.prepare("INSERT INTO dependencies (from_id, to_id, dep_type) VALUES (?, ?, 'blocks')");
  for (let i = 0; i < count; i += 1) {
    const at = new Date(1_700_000_000_000 + i).toISOString();
    task.run(taskId(i), `Task number ${i}`, at, at);
    for (const j of blockersOf(i)) edge.run(taskId(i), taskId(j));
  }
  db.exec('COMMIT');
  db.close();
}
