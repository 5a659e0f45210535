import { it } from 'vitest';
import { expectNoneCrossed, MCP_GENERATIONS } from './support/mcp-clients.ts';
import { watchOwnLoop } from './support/loop-blocks.ts';

it.each(Object.entries(MCP_GENERATIONS))(
  'A12: 50 clients of %s with 10,000 interleaved calls get no answer that is not theirs',
  (_year, mode) => expectNoneCrossed(mode, { clients: 50, rounds: 40 }),
);

watchOwnLoop().expectNoLongBlock();
