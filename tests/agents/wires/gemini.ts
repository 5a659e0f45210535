import { join } from 'node:path';
import type { Turn } from '../trajectory.ts';
import { listOf, textOf, type Json, type Said, type Wire, type WireContext, type WireEvent } from './wire.ts';

/** Gemini's generateContent, streamed and not, as Gemini CLI asks for it. */
export const gemini: Wire = {
  fits: (path) => /:(?:streamG|g)enerateContent$/.test(path),
  read(body) {
    const tools = listOf(body['tools'])
      .flatMap((tool) => listOf(tool['functionDeclarations']))
      .map((tool) => String(tool['name']));
    return { main: tools.length > 0, said: listOf(body['contents']).flatMap(toSaid), tools };
  },
  answer(turn, context) {
    const part = toPart(turn, context);
    const finish = 'hang' in turn ? {} : { finishReason: 'STOP', index: 0 };
    const candidate = { content: { role: 'model', parts: [part] }, ...finish };
    return [
      { data: { candidates: [candidate], usageMetadata: USAGE, modelVersion: 'scripted' } },
    ] as readonly WireEvent[];
  },
  refuse: (_until, retry_after) => ({
    headers: {},
    body: {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: `You exceeded your current quota. Please retry in ${retry_after}s.`,
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
            violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel', quotaMetric: 'requests' }],
          },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retry_after}s` },
        ],
      },
    },
  }),
};

const USAGE = {
  promptTokenCount: 100,
  candidatesTokenCount: 10,
  cachedContentTokenCount: 40,
  totalTokenCount: 110,
};

function toSaid({ role, parts }: Json): readonly Said[] {
  if (role !== 'user' && role !== 'function') return [];
  return listOf(parts).map((part) =>
    part['functionResponse'] === undefined
      ? { user: textOf([part]) }
      : { result: JSON.stringify(part['functionResponse']) },
  );
}

function toPart(turn: Turn, { folder }: WireContext): Json {
  if ('write' in turn) {
    const args = { file_path: join(folder, turn.write), content: turn.text };
    return { functionCall: { name: 'write_file', args } };
  }
  if ('run' in turn)
    return {
      functionCall: {
        name: 'run_shell_command',
        args: { command: turn.run, description: 'As the script says' },
      },
    };
  if ('answer' in turn) return { text: `\`\`\`json\n${JSON.stringify(turn.answer)}\n\`\`\`` };
  if ('hang' in turn) return { text: turn.hang };
  return { text: 'say' in turn ? turn.say : '' };
}
