import { mkdtempSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { AGENTS } from './agents.ts';
import { openModelServer } from './model-server.ts';
import { toPrompt } from './trajectory.ts';
import { createExecutor } from '#executors/create-executor.ts';
import { openProcessHost } from '#process/process-host.ts';
import { toChildEnvironment } from '#process/child-environment.ts';
import { findSurvivors } from '../support/executor-run.ts';
const [, , kind, script, permissions = 'edits', decision = 'denied', stopAfter = ''] = process.argv;
const BIN = process.env.BIN ?? '/tmp/mcp-clients/node_modules/.bin';
const agent = AGENTS.find((a) => a.kind === kind)!;
const server = await openModelServer();
const base = realpathSync(mkdtempSync('/tmp/explore-'));
const home = process.env.XHOME ?? join(base, 'home'),
  cwd = process.env.XCWD ?? join(base, 'checkout');
mkdirSync(home, { recursive: true });
mkdirSync(cwd, { recursive: true });
const extra = await agent.setUp({ home, url: server.url });
const env = toChildEnvironment(
  { PATH: `${BIN}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home },
  extra,
);
const processes = await openProcessHost();
console.log('containment', processes.containment.kind);
const t0 = performance.now();
const now = () => ((performance.now() - t0) / 1000).toFixed(2);
const profile = {
  executor: kind,
  permissions: permissions as never,
  ...(process.env.MODEL && { model: process.env.MODEL }),
};
const run_id = crypto.randomUUID();
const resume = process.env.RESUME;
const run = await createExecutor(profile, {
  clock: { now: () => Date.now() },
  processes,
  player: [],
  version: '0.0.0',
  tap: (from, line) => {
    if (process.env.TAP) console.log(now(), from, line.slice(0, Number(process.env.TAP)));
  },
}).start(
  {
    run_id,
    cwd,
    prompt: toPrompt(script as never, cwd),
    profile,
    env,
    session: { id: resume ?? run_id, resume: resume !== undefined },
    read_only: process.env.RO !== undefined,
    ...(process.env.SCHEMA && {
      output_schema: {
        type: 'object',
        properties: { verdict: { type: 'string' }, findings: { type: 'array', items: { type: 'string' } } },
        required: ['verdict', 'findings'],
        additionalProperties: false,
      },
    }),
    limits: { total_ms: 120_000, idle_ms: 120_000, output_bytes: 1e8 },
  },
  {
    tell: (e) => console.log(now(), 'TELL', JSON.stringify(e).slice(0, 600)),
    noteSession: (id) => console.log('SESSION', id),
    noteProcess: async () => {},
    approve: async (r) => {
      console.log(now(), 'ASK', JSON.stringify({ tool: r.tool, input: r.input }).slice(0, 500));
      return decision as never;
    },
  },
);
if (stopAfter)
  setTimeout(() => {
    console.log('before stop', findSurvivors(run_id));
    void run.stop();
  }, Number(stopAfter));
console.log(now(), 'END', JSON.stringify(await run.ended));
console.log('files', readdirSync(cwd), 'survivors', findSurvivors(run_id), 'base', base);
console.log(
  'calls',
  JSON.stringify(server.calls.map(({ tools, ...c }) => ({ ...c, result: c.result?.slice(0, 300) }))),
  'strange',
  server.strange,
  'tools',
  server.calls[0]?.tools.join(','),
);
await server[Symbol.asyncDispose]();
