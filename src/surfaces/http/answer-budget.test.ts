import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { LIMITS } from '#kernel/limits.ts';
import { AnswerBudget } from './answer-budget.ts';
import { HTTP_LIMITS } from './limits.ts';
import { reserveAnswer } from './reserve-answer.ts';

const SMALL = { unread_bytes_a_token: 100, unread_bytes: 250, waiting_reads_a_token: 3 };

/** An ended answer of which so many bytes wait for the client. */
function answer(bytes: number): ServerResponse & { destroyed: boolean } {
  const response = Object.assign(new EventEmitter(), {
    writableEnded: true,
    writableLength: bytes,
    destroyed: false,
    socket: { remoteAddress: '10.0.0.1' },
    getHeader: () => undefined,
    destroy() {
      response.destroyed = true;
      response.emit('close');
    },
  });
  return response as unknown as ServerResponse & { destroyed: boolean }; // all that a budget looks at
}

function hold(budget: AnswerBudget, who: string, bytes: number): ReturnType<typeof answer> {
  const response = answer(bytes);
  budget.open(response, who);
  budget.hold(response);
  return response;
}

/** Whether a promise has settled once everything that could go on has. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const waiting = Symbol('waiting');
  await new Promise(setImmediate);
  return (await Promise.race([promise.catch(() => undefined), Promise.resolve(waiting)])) !== waiting;
}

describe('the budget of answers', () => {
  it('[B5] refuses a token that leaves too much unread, and lets others go on', async () => {
    const budget = new AnswerBudget(SMALL);
    const unread = hold(budget, 'greedy', 60);
    await expect(budget.reserve('greedy', 50)).rejects.toMatchObject({
      code: 'too_many_requests',
      details: { limit: 100 },
    });
    expect(budget.hasRoom('greedy', 41)).toBe(false);
    (await budget.reserve('other', 50))[Symbol.dispose]();
    unread.emit('close');
    (await budget.reserve('greedy', 50))[Symbol.dispose]();
    expect(budget.bytes).toEqual({ unread: 0, reserved: 0 });
  });

  it('[B5] refuses all while too much of the whole server is unread', async () => {
    const budget = new AnswerBudget(SMALL);
    const unread = ['a', 'b', 'c'].map((who) => hold(budget, who, 80));
    await expect(budget.reserve('d', 50)).rejects.toMatchObject({ code: 'server_busy' });
    unread[0]?.emit('close');
    (await budget.reserve('d', 50))[Symbol.dispose]();
  });

  it('[B5] refuses at once where a token is over its limit, whatever it asks', () => {
    const budget = new AnswerBudget(SMALL);
    hold(budget, 'greedy', 100);
    expect(() => budget.open(answer(0), 'greedy')).toThrow(/not read yet/);
    expect(() => budget.open(answer(0), 'other')).not.toThrow();
  });

  it('[B5] has reads wait for those that are being made, and serves the tokens in turn', async () => {
    const budget = new AnswerBudget({ ...SMALL, unread_bytes: 120 });
    const order: string[] = [];
    const first = await budget.reserve('a', 100);
    const later = (['a', 'a', 'b'] as const).map(async (who) => {
      const reserved = await budget.reserve(who, 90);
      order.push(who);
      return reserved;
    });
    expect(await settled(Promise.race(later))).toBe(false);
    first[Symbol.dispose]();
    for (const count of [1, 2, 3]) {
      await new Promise(setImmediate);
      expect(order).toHaveLength(count);
      const next = order[count - 1] === 'b' ? later[2] : later[order.filter((one) => one === 'a').length - 1];
      (await next)?.[Symbol.dispose]();
    }
    expect(order).toEqual(['a', 'b', 'a']);
    expect(budget.bytes.reserved).toBe(0);
  });

  it('[B5] refuses those who wait once their token leaves too much unread', async () => {
    const budget = new AnswerBudget(SMALL);
    const first = await budget.reserve('a', 100);
    const waiting = budget.reserve('a', 100);
    const refused = waiting.catch((error: unknown) => error);
    hold(budget, 'a', 60);
    expect(await refused).toMatchObject({ code: 'too_many_requests' });
    first[Symbol.dispose]();
  });

  it('[B5] bounds those who wait, and forgets one whose client went away', async () => {
    const budget = new AnswerBudget(SMALL);
    const first = await budget.reserve('a', 100);
    const gone = new AbortController();
    const waiting = [0, 1, 2].map((at) => budget.reserve('a', 100, at === 0 ? gone.signal : undefined));
    await expect(budget.reserve('a', 100)).rejects.toMatchObject({ code: 'too_many_requests' });
    const left = waiting[0]?.catch((error: unknown) => error);
    gone.abort();
    expect(await left).toMatchObject({ code: 'interrupted' });
    first[Symbol.dispose]();
    (await waiting[1])?.[Symbol.dispose]();
    (await waiting[2])?.[Symbol.dispose]();
    await expect(budget.reserve('a', 1, AbortSignal.abort())).resolves.toBeDefined();
  });

  it('[B5] tells what has happened in the place of what was left unread longest', () => {
    const budget = new AnswerBudget(SMALL);
    const [oldest, second] = [hold(budget, 'a', 40), hold(budget, 'a', 40)];
    // It was begun while there was room.
    const written = answer(50);
    budget.hold(written);
    const late = answer(50);
    budget.open(late, 'a');
    budget.hold(late);
    budget.hold(late);
    expect([oldest.destroyed, second.destroyed, late.destroyed]).toEqual([true, false, false]);
    expect(budget.bytes.unread).toBe(40 + 50 + 50);
  });

  it('[B5] reserves for reads alone, the most for lists, and nothing for waits', async () => {
    const budget = new AnswerBudget();
    const caller = {
      actor: { kind: 'user', name: 'ann', named: false },
      scope: 'admin',
      token: 't',
    } as const;
    const reserved = async (name: string): Promise<number> => {
      const declaration = OPERATIONS.find((one) => one.name === name);
      if (declaration === undefined) throw new Error(name);
      using _reserved = await reserveAnswer(budget, declaration, { caller });
      return budget.bytes.reserved;
    };
    expect(await reserved('task.list')).toBe(LIMITS.answer_bytes);
    expect(await reserved('event.list')).toBe(LIMITS.answer_bytes);
    expect(await reserved('task.show')).toBe(LIMITS.answer_page_bytes);
    expect(await reserved('task.wait')).toBe(0);
    expect(await reserved('task.create')).toBe(0);
    expect(budget.bytes).toEqual({ unread: 0, reserved: 0 });
  });

  it('[B5] lets one token have a part of what all may have', () => {
    expect(HTTP_LIMITS.unread_bytes).toBeGreaterThanOrEqual(4 * HTTP_LIMITS.unread_bytes_a_token);
    expect(HTTP_LIMITS.unread_bytes_a_token).toBeGreaterThanOrEqual(2 * LIMITS.answer_bytes);
  });
});
