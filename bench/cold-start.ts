import { fillStore, taskId } from './fill-store.ts';
import { FORGE, makeProject, measureCommands, temporaryFolder, type Result } from './measure.ts';

const ROUNDS = 40;

/** What a person or an agent waits for: whole processes, 10,000 tasks, against a Node that does nothing. */
export function benchColdStart(): Result[] {
  using folder = temporaryFolder();
  fillStore(makeProject(folder.path), 10_000);
  const costs = measureCommands(
    {
      node: ['-e', '0'],
      version: [FORGE, '--version'],
      ready: [FORGE, 'ready', '--json', '--limit', '20'],
      show: [FORGE, 'task', 'show', taskId(100), '--json'],
      impact: [FORGE, 'ready', '--sort', 'impact', '--json', '--limit', '20'],
      create: [FORGE, 'task', 'create', 'One more task', '--json', '--actor', 'bench'],
    },
    { cwd: folder.path, rounds: ROUNDS },
  );
  const { node } = costs;
  const time = (what: string, cost: { ms: number }, budget: number): Result => ({
    what: `${what}, cold, 10,000 tasks`,
    baseline: '`node -e 0`',
    ratio: cost.ms / node.ms,
    budget,
    sense: 'at most',
    figures: `${cost.ms.toFixed(1)} ms / ${node.ms.toFixed(1)} ms`,
  });
  const memory = (what: string, cost: { rss_kb: number }): Result => ({
    what: `${what}, peak memory`,
    baseline: '`node -e 0`',
    ratio: cost.rss_kb / node.rss_kb,
    budget: 1.4,
    sense: 'at most',
    figures: `${(cost.rss_kb / 1024).toFixed(1)} MB / ${(node.rss_kb / 1024).toFixed(1)} MB`,
  });
  return [
    time('`forge --version`', costs.version, 1.2),
    time('`forge ready --json --limit 20`', costs.ready, 1.6),
    time('`forge task show --json`', costs.show, 1.6),
    time('`forge task create --json`', costs.create, 2.2),
    {
      what: '`forge ready --sort impact --limit 20`, cold, 10,000 tasks',
      baseline: 'plain `forge ready`',
      ratio: costs.impact.ms / costs.ready.ms,
      budget: 1.5,
      sense: 'at most',
      figures: `${costs.impact.ms.toFixed(1)} ms / ${costs.ready.ms.toFixed(1)} ms`,
    },
    memory('`forge --version`', costs.version),
    memory('`forge ready --json --limit 20`', costs.ready),
    memory('`forge task show --json`', costs.show),
    memory('`forge task create --json`', costs.create),
  ];
}
