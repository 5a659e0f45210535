import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { startProjectHttp } from '../../../tests/support/http-server.ts';
import { type OpenApiDocument, sendMany, toDice } from '../../../tests/support/openapi-requests.ts';
import { watchOwnLoop } from '../../../tests/support/loop-blocks.ts';

const REQUESTS = Number(process.env.FORGE_SOAK_REQUESTS ?? 200_000);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void; // the flag was just set

const loop = watchOwnLoop();

function heapMegabytes(): number {
  loop.skip(collect);
  return process.memoryUsage().heapUsed / 1_048_576;
}

describe('many random requests', () => {
  it('never get a 5xx, and leave nothing behind in memory', async ({ annotate }) => {
    await using http = await startProjectHttp();
    const whole = (await http.ask({ path: '/api/v1/openapi.json', token: http.admin }))
      .json as OpenApiDocument;
    // Every token that is made is compared with at every request after it.
    const document = {
      paths: Object.fromEntries(Object.entries(whole.paths).filter(([path]) => !path.includes('tokens'))),
    };
    const heaps: number[] = [];
    const result = await sendMany(
      { port: http.port, token: http.admin, document, dice: toDice(7), projects: ['fg', 'demo'] },
      REQUESTS,
      { once: Math.ceil(REQUESTS / 10), look: () => heaps.push(heapMegabytes()) },
    );
    expect(result.faults).toEqual([]);
    expect(http.failures).toEqual([]);
    const [, second = 0] = heaps;
    expect((heaps.at(-1) ?? 0) - second).toBeLessThan(40);
    await annotate(`${REQUESTS} requests`);
  });
});

loop.expectNoLongBlock();
