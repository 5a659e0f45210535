import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { listTools } from '#surfaces/mcp/create-server.ts';
import { createTools } from '#surfaces/mcp/tools.ts';

const COUNTERS = { o200k: countO200k, cl100k: countCl100k };
/** What every conversation pays before the first word. */
const BUDGET = 6_000;

it.each(Object.entries(COUNTERS))(
  'the whole tool list costs less than 6,000 tokens of %s',
  (_name, count) => {
    const tools = listTools(createTools(OPERATIONS, { severalProjects: true }));
    const cost = count(JSON.stringify({ tools }));
    expect(cost).toBeLessThan(BUDGET);
    // Uncut the schemas alone would not fit: the count sees what it should.
    const uncut = OPERATIONS.filter(({ local }) => local !== true).map(({ name, about, summary, input }) => ({
      name,
      description: about ?? summary,
      inputSchema: input.toJSONSchema({ io: 'input' }),
    }));
    expect(count(JSON.stringify({ tools: uncut }))).toBeGreaterThan(BUDGET);
  },
);

it('the page about it names every tool that is listed, and none that is not there', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/mcp.md'), 'utf8');
  const tools = createTools(OPERATIONS, { severalProjects: true });
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ''),
  );
  expect(named.toSorted()).toEqual(
    listTools(tools)
      .map(({ name }) => name)
      .toSorted(),
  );
});
