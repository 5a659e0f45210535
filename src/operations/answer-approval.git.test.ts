import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import type { Run } from '#contract/attempt.ts';
import type { Actor } from '#domain/actor.ts';
import { ANN } from '../../tests/support/temp-engine.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { answerApproval } from './answer-approval.ts';
import type { OperationContext } from './operation.ts';

let shop: TempWorkshop;
let run: Run;
beforeEach(async () => {
  shop = await tempWorkshop();
  const { store, watcher } = shop.place;
  const { by } = shop.as();
  const { id: task_id } = await shop.create('Ask');
  const attempt_id = crypto.randomUUID();
  const place = { name: 'a', path: '/none', target: 'main', base_commit: shop.repo.git('rev-parse', 'HEAD') };
  await store.startAttempt({ id: attempt_id, task_id, ...place, agent: 'ada', port: null }, by);
  const made = {
    id: crypto.randomUUID(),
    task_id,
    attempt_id,
    agent: 'ada',
    role: 'coder',
    executor: 'shell',
  };
  const how = { fence: null, in_state: null, session_id: null, watcher, state: 'scheduled' } as const;
  await store.createRun({ ...made, ...how }, by);
  run = await store.moveRun({ id: made.id, to: 'running' }, by);
});
afterEach(() => shop[Symbol.asyncDispose]());

async function ask(command: string): Promise<string> {
  const asking = { id: crypto.randomUUID(), run_id: run.id, tool: 'Bash', input: {}, command, paths: [] };
  return (await shop.place.store.askApproval(asking, shop.as().by)).id;
}

function answer(wish: Parameters<typeof answerApproval>[2], actor: Actor = ANN, approval?: string) {
  // Only what an answer looks at.
  const project = { store: shop.place.store };
  const ctx = { project, clock: systemClock, actor: async () => actor } as unknown as OperationContext;
  return answerApproval(ctx, { id: run.id, approval }, wish);
}

describe('what a run waits for', () => {
  it.each(['allowed', 'denied'] as const)('is not %s by an agent, whichever it is', async (state) => {
    const id = await ask('npm test');
    for (const name of ['ada', 'bob'])
      await expect(answer({ state }, { kind: 'agent', name, named: true })).rejects.toMatchObject({
        code: 'permission_denied',
      });
    expect(await answer({ state })).toMatchObject({ id, state, always: null });
  });

  it('is the one that has no answer yet, or the one that is named', async () => {
    const [first, second] = [await ask('npm test'), await ask('make')];
    await expect(answer({ state: 'allowed' })).rejects.toMatchObject({ code: 'ambiguous_id' });
    expect(await answer({ state: 'denied' }, ANN, first)).toMatchObject({ id: first });
    expect(await answer({ state: 'allowed' })).toMatchObject({ id: second });
    await expect(answer({ state: 'allowed' })).rejects.toMatchObject({ code: 'state_invalid' });
  });

  it('is allowed for the rest of its task by words that it begins with, or as it is', async () => {
    await ask('npm test -- a');
    for (const prefix of ['make', 'npm t', 'npm test; rm x', ''])
      await expect(answer({ state: 'allowed', prefix })).rejects.toMatchObject({ code: 'invalid_input' });
    const always = { kind: 'prefix', text: 'npm test' };
    expect(await answer({ state: 'allowed', prefix: 'npm test' })).toMatchObject({ always });
    await ask('make | tee x');
    expect(await answer({ state: 'allowed', always: true })).toMatchObject({
      always: { kind: 'line', text: 'make | tee x' },
    });
  });
});
