import { describe, expect, it } from 'vitest';
import { startHttp, startProjectHttp } from '../../../tests/support/http-server.ts';
import {
  isServerFault,
  type OpenApiDocument,
  sendMany,
  toDice,
} from '../../../tests/support/openapi-requests.ts';

describe('random requests from our own document', () => {
  it('find a server that fails', async () => {
    await using broken = await startHttp({
      caller: {
        call: async ({ name }) => {
          if (name === 'task.show') throw new TypeError('a bug');
          return {};
        },
      },
    });
    const { token } = await broken.token('admin');
    const document = (await broken.ask({ path: '/api/v1/openapi.json', token })).json as OpenApiDocument;
    const dice = toDice(1);
    const { faults } = await sendMany({ port: broken.port, token, document, dice, projects: ['fg'] }, 500);
    expect(faults.length).toBeGreaterThan(0);
    expect(
      faults.every(({ made }) => made.route.includes('/tasks/{id}') || made.route.includes('operations')),
    ).toBe(true);
    expect(broken.failures.length).toBeGreaterThanOrEqual(faults.length);
    expect(isServerFault({ status: 501, text: '{"code":"not_available"}' })).toBe(false);
    expect(isServerFault({ status: 503, text: '{}' })).toBe(true);
    // What went wrong inside is for the log alone.
    expect(faults.every(({ text }) => !text.includes('a bug'))).toBe(true);
  });

  it('never get a 5xx', async () => {
    await using http = await startProjectHttp();
    const document = (await http.ask({ path: '/api/v1/openapi.json', token: http.admin }))
      .json as OpenApiDocument;
    const dice = toDice(20_260_218);
    const result = await sendMany(
      { port: http.port, token: http.admin, document, dice, projects: ['fg', 'demo'] },
      2_000,
    );
    expect(result.faults).toEqual([]);
    expect(http.failures).toEqual([]);
    // It went through all of them, and not only through refusals.
    expect(result.routes).toBeGreaterThan(100);
    expect(result.statuses[200]).toBeGreaterThan(200);
    expect(result.statuses[201]).toBeGreaterThan(20);
  });
});
