import { join } from 'node:path';
import { expect, it } from 'vitest';
import { forgeProject } from '../support/forge-cli.ts';
import { startForgeServer } from '../support/forge-server.ts';

const SCRIPT = join(import.meta.dirname, '../support/seed-examples.sh');

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

it('[S223] [S373] [S350] [S355] [S358] [S361] [S367] [S368] [S388] [S389] [S390] [S391] the documents’ own requests give what they say', async (ctx) => {
  await using project = await forgeProject();
  if ((await project.exec('curl', ['--version'])).exit !== 0) ctx.skip('needs curl');
  await project.text('agent', 'add', 'worker-1');
  await project.text('agent', 'add', 'another');
  await using server = await startForgeServer(project);
  const { stdout, stderr, exit } = await project.exec('bash', [SCRIPT], {
    env: { BASE: server.url, TOKEN: server.token, PROJECT: 'fg', AGENT: 'worker-1' },
  });
  expect([exit, stderr]).toEqual([0, '']);
  const answers = Object.fromEntries(
    stdout
      .trimEnd()
      .split('\n')
      .map((line): [string, Answer] => {
        const [, name = '', body = '', status = ''] = /^(\S+)\t(.*) (\d{3})$/s.exec(line) ?? [];
        return [name, { status: Number(status), body: JSON.parse(body) as unknown }];
      }),
  );
  expect(answers['create']).toMatchObject({
    status: 201,
    body: { state: 'todo', review_config: { ci_steps: ['cargo test -p api --test auth'] } },
  });
  expect(answers['depend']).toMatchObject({ status: 200, body: { added: true } });
  expect(answers['dependencies']).toMatchObject({ status: 200, body: [{ type: 'blocks' }] });
  expect(answers['claim-gated']).toMatchObject({ status: 409, body: { code: 'dependency_gate' } });
  expect(answers['claim']).toMatchObject({
    status: 200,
    body: { assignee: 'worker-1', state: 'in_progress', version: 2, claimed: true },
  });
  // It has no steps, so that it passes by itself.
  expect(answers['transition']).toMatchObject({
    status: 200,
    body: { task: { state: 'review' }, review: { status: 'passed', attempt_number: 1, step_results: [] } },
  });
  expect(answers['transition-stale']).toMatchObject({ status: 409, body: { code: 'version_conflict' } });
  expect(answers['reassign-reset']).toMatchObject({ status: 200 });
  expect(answers['reassign']).toMatchObject({
    status: 200,
    body: { state: 'review', roles: { coder: { agent: 'another' } } },
  });
  expect(answers['reassign']?.body).not.toHaveProperty('review_passed_at');
  expect(answers['cancel']).toMatchObject({ status: 200, body: { state: 'cancelled', status: 'closed' } });
  expect(answers['archive']).toMatchObject({
    status: 200,
    body: { archived_at: expect.any(String) as string },
  });
  expect(answers['list']?.body).toHaveLength(1);
  expect(answers['list-archived']?.body).toHaveLength(2);
  expect(answers['transitions']).toMatchObject({
    status: 200,
    body: [
      { from_state: 'todo', to_state: 'in_progress', rejection: false, trigger_reason: null },
      { to_state: 'review', trigger_reason: null },
      { to_state: 'cancelled' },
    ],
  });
  expect(answers['mcp']).toMatchObject({
    status: 200,
    body: { result: { structuredContent: { state: 'todo' } } },
  });
});
