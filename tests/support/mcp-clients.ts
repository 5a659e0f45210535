import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { type ProjectHttp, startProjectHttp } from './http-server.ts';
import { callText } from './mcp-calls.ts';

/** The two ways in which clients of our time begin. */
export const MCP_GENERATIONS = { 2025: 'legacy', 2026: { pin: '2026-07-28' } } as const;

type Mode = (typeof MCP_GENERATIONS)[keyof typeof MCP_GENERATIONS];

export async function connectMcp(
  http: ProjectHttp,
  token: string,
  mode: Mode,
): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://${http.host}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

interface Answer {
  readonly nonce: string;
  readonly text: string;
}

/** Clients that all ask at once, five calls at a time for so many rounds; each answer holds what its call asked for. */
export async function expectNoneCrossed(
  mode: Mode,
  options: { readonly clients: number; readonly rounds: number },
): Promise<void> {
  await using http = await startProjectHttp();
  const clients = await Promise.all(
    Array.from({ length: options.clients }, async (_, at) => {
      const { token } = await http.token('task', `worker-${at}`);
      return connectMcp(http, token, mode);
    }),
  );
  const answers: Answer[] = [];
  await Promise.all(
    clients.map(async (client, who) => {
      for (let round = 0; round < options.rounds; round += 1) {
        await Promise.all(
          Array.from({ length: 5 }, async (_, at) => {
            const nonce = `fg-${who}x${round}x${at}`;
            // An error that repeats what was asked: the quickest answer that holds a nonce.
            answers.push({ nonce, text: await callText(client, 'forge_show', { id: nonce }) });
          }),
        );
      }
      const nonce = `"of ${who}"`;
      const text = await callText(client, 'forge_create_task', { title: `of ${who}` });
      answers.push({ nonce, text }, { nonce: `"created_by":"worker-${who}"`, text });
    }),
  );
  expect(answers.length).toBe(options.clients * (options.rounds * 5 + 2));
  expect(listCrossed(answers)).toEqual([]);
  // Two answers that changed places would be seen.
  const [one, other] = answers;
  expect(listCrossed([{ nonce: one?.nonce ?? '', text: other?.text ?? '' }])).toHaveLength(1);
  await Promise.all(clients.map((client) => client.close()));
}

function listCrossed(answers: readonly Answer[]): readonly Answer[] {
  return answers.filter(({ nonce, text }) => !text.includes(nonce));
}
