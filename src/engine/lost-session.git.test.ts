import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** Speaks Claude's protocol, forgets every conversation, and writes down what it was told. */
const FORGETFUL = `
const { appendFileSync } = require('node:fs');
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const resumes = process.argv.includes('--resume');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'control_request')
    return say({ type: 'control_response', response: { subtype: 'success', request_id: message.request_id } });
  if (message.type !== 'user') return;
  appendFileSync(process.env.TOLD, JSON.stringify({ resumes, prompt: message.message.content }) + '\\n');
  if (resumes && process.env.FORGETS) {
    say({ type: 'result', subtype: 'error_during_execution', is_error: true, errors: ['No conversation found'] });
    process.exit(1);
  }
  appendFileSync('work', 'x');
  say({ type: 'assistant', message: { content: [{ type: 'text', text: 'done' }] } });
  say({ type: 'result', subtype: 'success', is_error: false, result: 'done' });
});
`;

/** What a task is told whose check passes at the second try. */
async function workTwice(env: Readonly<Record<string, string>>): Promise<{
  readonly state: string;
  readonly told: readonly { readonly resumes: boolean; readonly prompt: string }[];
  readonly outcomes: readonly unknown[];
}> {
  const folder = shop.place.home;
  const [script, told] = [join(folder, 'forgetful.cjs'), join(folder, 'told')];
  writeFileSync(script, FORGETFUL);
  shop.addAgent('claudia', '', {
    profile: { executor: 'claude', command: [process.execPath, script], permissions: 'all' },
    env: { TOLD: told, ...env },
  });
  const task = await shop.create('Say it twice', {
    steps: ['test "$(cat work)" = xx'],
    description: 'Whole and in full.',
  });
  const { state } = await shop.work(task, 'claudia');
  const runs = await shop.place.store.listRuns({ task_id: task.id });
  const lines = readFileSync(told, 'utf8').trimEnd().split('\n');
  return {
    state,
    told: lines.map((line) => JSON.parse(line) as { resumes: boolean; prompt: string }),
    outcomes: runs.map(({ outcome }) => outcome),
  };
}

describe('[A8] what a person edits between two runs', () => {
  it('reaches the next prompt of a session that goes on', async () => {
    const folder = shop.place.home;
    const [script, told] = [join(folder, 'forgetful.cjs'), join(folder, 'told')];
    writeFileSync(script, FORGETFUL);
    shop.addAgent('claudia', '', {
      profile: { executor: 'claude', command: [process.execPath, script], permissions: 'all' },
      env: { TOLD: told },
    });
    const task = await shop.create('In red', { steps: ['false'], description: 'All of it red.' });
    shop.set({ scheduler: { retry_limit: 1 } });
    await shop.work(task, 'claudia');
    const { store, clock } = shop.place;
    const by = { ...shop.as().by, now: clock.now() };
    await store.updateTask({ id: task.id, description: 'All of it blue.' }, by);
    await store.addComment({ id: task.id, body: 'Mind the hue', reply_to: null }, by);
    const before = readFileSync(told, 'utf8').trimEnd().split('\n').length;
    await shop.move(await store.getTask(task.id), 'in_progress');
    const next = readFileSync(told, 'utf8').trimEnd().split('\n')[before] ?? '';
    expect(next).toContain('All of it blue.');
    expect(next).toContain('Mind the hue');
  });
});

describe('[A7] a session that cannot be resumed', () => {
  it('is begun afresh in the same run, with the whole task', async () => {
    const { state, told, outcomes } = await workTwice({ FORGETS: '1' });
    expect(state).toBe('review');
    expect(outcomes).toEqual(['completed', 'completed']);
    expect(told.map(({ resumes }) => resumes)).toEqual([false, true, false]);
    expect(told[2]?.prompt).toContain('Whole and in full.');
    expect(told[2]?.prompt).toContain('The check `test');
  });

  it('is another than one that goes on', async () => {
    const { told } = await workTwice({});
    expect(told.map(({ resumes }) => resumes)).toEqual([false, true]);
    expect(told[1]?.prompt).not.toContain('Whole and in full.');
  });
});
