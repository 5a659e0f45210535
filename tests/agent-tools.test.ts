import { describe, expect, it } from 'vitest';
import { openModelServer } from './agents/model-server.ts';
import { renderReport, type ReportRow } from './agents/report.ts';
import { scrubRecording } from './agents/scrub-recording.ts';
import { findAsked, toPrompt, type ScriptName } from './agents/trajectory.ts';
import type { Recording } from './support/agent-recordings.ts';

/** A first request in each of the wire formats, and one after a tool has answered. */
const WIRES = {
  anthropic: {
    path: '/v1/messages?beta=true',
    body: (prompt: string, results: number) => ({
      tools: [{ name: 'Write' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: prompt }] },
        ...Array.from({ length: results }, () => ({
          role: 'user',
          content: [{ type: 'tool_result', content: 'done' }],
        })),
      ],
    }),
    call: '"name":"Write"',
  },
  responses: {
    path: '/v1/responses',
    body: (prompt: string, results: number) => ({
      tools: [{ type: 'function', name: 'exec_command' }],
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] },
        ...Array.from({ length: results }, () => ({ type: 'custom_tool_call_output', output: 'done' })),
      ],
    }),
    call: '"name":"apply_patch"',
  },
  chat: {
    path: '/v1/chat/completions',
    body: (prompt: string, results: number) => ({
      tools: [{ type: 'function', function: { name: 'write' } }],
      messages: [
        { role: 'user', content: prompt },
        ...Array.from({ length: results }, () => ({ role: 'tool', content: 'done' })),
      ],
    }),
    call: '"name":"write"',
  },
  gemini: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: (prompt: string, results: number) => ({
      tools: [{ functionDeclarations: [{ name: 'write_file' }] }],
      contents: [
        { role: 'user', parts: [{ text: prompt }] },
        ...Array.from({ length: results }, () => ({
          role: 'user',
          parts: [{ functionResponse: { name: 'write_file', response: {} } }],
        })),
      ],
    }),
    call: '"name":"write_file"',
  },
};

describe.each(Object.entries(WIRES))('the scripted model, asked as %s', (_name, { path, body, call }) => {
  async function ask(script: ScriptName, results = 0): Promise<{ status: number; text: string }> {
    await using server = await openModelServer();
    const response = await fetch(server.url + path, {
      method: 'POST',
      body: JSON.stringify(body(toPrompt(script, '/w'), results)),
    });
    return { status: response.status, text: await response.text() };
  }

  it('calls a tool, then speaks, and says the same to the same request', async () => {
    const first = await ask('write');
    expect(first.text).toContain(call);
    expect(await ask('write')).toEqual(first);
    const second = await ask('write', 1);
    expect(second.text).toContain('The file is written.');
    expect(second.text).not.toContain(call);
  });

  it('refuses with the time to wait', async () => {
    expect((await ask('limit')).status).toBe(429);
  });

  it('begins and does not end where it is to be slow', async () => {
    await using server = await openModelServer();
    const stop = new AbortController();
    const response = await fetch(server.url + path, {
      method: 'POST',
      body: JSON.stringify(body(toPrompt('slow', '/w'), 0)),
      signal: stop.signal,
    });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value as Uint8Array)).toContain('I think');
    stop.abort();
    await expect(reader?.read()).rejects.toThrow('abort');
  });

  it('answers what is not the agent’s work with a title, and counts only the work', async () => {
    await using server = await openModelServer();
    const { tools: _tools, ...rest } = body(toPrompt('write', '/w'), 0);
    const response = await fetch(server.url + path, { method: 'POST', body: JSON.stringify(rest) });
    expect(await response.text()).toContain('A script');
    expect(server.calls).toEqual([]);
  });
});

it('the scripted model knows no other address', async () => {
  await using server = await openModelServer();
  expect((await fetch(`${server.url}/v1/models`)).status).toBe(404);
  expect(server.strange).toEqual(['GET /v1/models']);
});

it('the last script that a prompt names is played', () => {
  const text = `${toPrompt('write', '/a')} ${toPrompt('again', '/b')}`;
  expect(findAsked(text)).toEqual({ script: 'again', folder: '/b' });
  expect(findAsked('Play the script <nothing> in </a>.')).toBeUndefined();
});

describe('a recording that is kept', () => {
  const began = Date.UTC(2030, 5, 1, 12);
  const now = Date.UTC(2026, 0, 1);
  const uuid = '0f8fad5b-d9cb-469f-a165-70867728950e';

  function scrub(line: unknown): unknown {
    const recording = {
      head: { executor: 'x', spec: { cwd: '/real/place' }, now: 0 },
      lines: [{ from: 'agent', line }],
      entries: [{ kind: 'message', role: 'agent', text: `in /real/place by ${uuid}` }],
      end: { outcome: 'completed' },
    } as unknown as Recording;
    const clean = scrubRecording(recording, { paths: [['/real/place', '/checkout']], began, now });
    expect(clean.entries).toMatchObject([{ text: expect.stringContaining('in /checkout by id-') }]);
    return clean.lines[0]?.line;
  }

  it.each([
    [{ cwd: '/real/place/a' }, { cwd: '/checkout/a' }],
    [
      { id: uuid, again: uuid },
      { id: 'id-1', again: 'id-1' },
    ],
    [{ at: began + 3_600_400 }, { at: now + 3_600_000 }],
    [{ resetsAt: began / 1_000 + 60 }, { resetsAt: now / 1_000 + 60 }],
    [{ at: '2030-06-01T12:10:03Z' }, { at: '2026-01-01T00:10:00.000Z' }],
    [
      { duration_ms: 1_234, pid: 77 },
      { duration_ms: 0, pid: 0 },
    ],
    [{ tokens: 1_234 }, { tokens: 1_234 }],
    [{ url: 'http://127.0.0.1:40123/v1' }, { url: 'http://127.0.0.1:1/v1' }],
    [{ serverName: 'my-laptop' }, { serverName: 'unknown' }],
    [{ list: [1, 2, 3, 4, 5, 6, 7] }, { list: [1, 2, 3, 4, 5] }],
  ])('has %j as %j', (line, clean) => {
    expect(scrub(line)).toEqual(clean);
  });

  it('has short texts', () => {
    expect(scrub({ text: 'x'.repeat(1_000) })).toEqual({ text: `${'x'.repeat(299)}…` });
  });
});

describe('the report of agents', () => {
  const row: ReportRow = {
    kind: 'claude',
    title: 'edits a file',
    passed: true,
    can: true,
    outcome: 'completed',
    exit_code: 0,
    seconds: 1.26,
  };
  const facts = { date: '2026-01-01', node: '24', machine: 'm', network: 'None.', containment: 'a cgroup' };

  it('says how each run went, and what an agent cannot do', () => {
    const cannot = { ...row, kind: 'opencode', can: false, exit_code: null, note: 'it does not.' } as const;
    const text = renderReport([row, cannot], facts);
    expect(text).toContain('2 runs, all as expected.');
    expect(text).toContain(
      '| edits a file | yes: completed, exit 0, 1.3 s | not tried | not tried | no (1): completed, ended by a signal, 1.3 s |',
    );
    expect(text).toContain('1. opencode, edits a file: it does not.');
  });

  it('does not hide a failure', () => {
    const text = renderReport([{ ...row, passed: false }], facts);
    expect(text).toContain('1 runs, 1 not as expected.');
    expect(text).toContain('FAILED');
  });
});
