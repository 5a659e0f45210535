import { describe, expect, it } from 'vitest';
import { assert } from './assert.ts';
import { ERROR_CODES, ForgeError, isForgeError, toErrorBody, type ErrorCode } from './errors.ts';
import { LIMITS } from './limits.ts';

// 0 ok · 1 failure · 2 usage · 3 not found · 4 conflict · 5 precondition · 6 permission · 7 dependency missing
const FAILURE_EXITS = [1, 2, 3, 4, 5, 6, 7, 130];

describe('the error table', () => {
  it.each(Object.entries(ERROR_CODES))(
    '%s has a documented exit code and an HTTP error status',
    (code, row) => {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(FAILURE_EXITS).toContain(row.exit);
      expect(row.http).toBeGreaterThanOrEqual(400);
      expect(row.http).toBeLessThan(600);
      expect(Object.keys(row).sort()).toEqual(['exit', 'http', 'retryable']);
    },
  );

  it.each([
    ['invalid_input', 2],
    ['usage', 2],
    ['not_found', 3],
    ['claim_conflict', 4],
    ['version_conflict', 4],
    ['fence_conflict', 4],
    ['ambiguous_id', 4],
    ['dependency_gate', 5],
    ['dependency_cycle', 5],
    ['state_invalid', 5],
    ['permission_denied', 6],
    ['dependency_missing', 7],
    ['internal', 1],
    ['interrupted', 130],
  ] satisfies [ErrorCode, number][])('scripts rely on it: %s exits with %i', (code, exit) => {
    expect(ERROR_CODES[code].exit).toBe(exit);
  });

  it('blames the caller with 4xx for every exit code that means the caller can do something', () => {
    const callers = Object.entries(ERROR_CODES).filter(([, row]) => row.exit >= 2 && row.exit <= 6);
    expect(callers.filter(([, row]) => row.http >= 500)).toEqual([]);
  });
});

describe('ForgeError', () => {
  it('keeps code, message, hint, details and cause', () => {
    const cause = new Error('SQLITE_BUSY');
    const error = new ForgeError('store_busy', 'Another command is writing', {
      hint: 'Try again',
      details: { waited_ms: 60_000 },
      cause,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error.cause).toBe(cause);
    expect(error.stack).toContain('Another command is writing');
    expect(toErrorBody(error)).toEqual({
      code: 'store_busy',
      message: 'Another command is writing',
      hint: 'Try again',
      details: { waited_ms: 60_000 },
    });
  });

  it('shows no hint and no cause where there is none', () => {
    const error = new ForgeError('not_found', 'No task fg-a3f8');
    expect(toErrorBody(error)).toEqual({ code: 'not_found', message: 'No task fg-a3f8', details: {} });
    expect('hint' in toErrorBody(error)).toBe(false);
    expect('cause' in error).toBe(false);
  });

  it('is recognised across two bundles, which have a class each', () => {
    const foreign = Object.assign(new Error('x'), { code: 'not_found', [Symbol.for('forge.error')]: true });
    expect(foreign).not.toBeInstanceOf(ForgeError);
    expect(isForgeError(foreign)).toBe(true);
    expect(isForgeError(new ForgeError('usage', 'x'))).toBe(true);
  });

  it.each([[new Error('x')], [{ code: 'not_found' }], [null], [undefined], ['not_found'], [7]])(
    'is not %s',
    (value) => {
      expect(isForgeError(value)).toBe(false);
    },
  );
});

describe('toErrorBody of what is not ours', () => {
  it.each([
    [new TypeError('x is not a function'), 'Unexpected failure: x is not a function'],
    ['a text', 'Unexpected failure: a text'],
    [undefined, 'Unexpected failure: undefined'],
    [null, 'Unexpected failure: null'],
  ])('%s is internal', (thrown, message) => {
    expect(toErrorBody(thrown)).toEqual({ code: 'internal', message, details: {} });
  });
});

describe('assert', () => {
  it.each([[true], [1], ['x'], [{}]])('lets %j pass', (value) => {
    expect(() => assert(value, 'never shown')).not.toThrow();
  });

  it.each([[false], [0], [''], [null], [undefined]])('throws internal for %j', (value) => {
    expect(() => assert(value, 'a claim has an owner')).toThrow(
      new ForgeError('internal', 'Broken assumption: a claim has an owner'),
    );
  });
});

describe('[C2] what an error tells is bounded', () => {
  it('in its message and its hint', () => {
    const error = new ForgeError('invalid_input', 'x'.repeat(1_000_000), { hint: 'y'.repeat(1_000_000) });
    expect(error.message.length).toBeLessThan(LIMITS.error_message_length + 50);
    expect(error.message).toContain('(1000000 characters)');
    expect(error.hint?.length).toBeLessThan(LIMITS.error_message_length + 50);
    expect(toErrorBody(new Error('z'.repeat(1_000_000))).message.length).toBeLessThan(9_000);
  });

  it('in its details: texts and lists are cut, small ones are as they were', () => {
    const small = { id: 'fg-1', list: [1, 2] };
    expect(toErrorBody(new ForgeError('not_found', 'x', { details: small })).details).toBe(small);
    const issues = Array.from({ length: 100_000 }, (_, at) => ({ field: `f${at}` }));
    const { details } = toErrorBody(new ForgeError('invalid_input', 'x', { details: { issues } }));
    expect(details['issues']).toHaveLength(LIMITS.error_names + 1);
    const wide = Object.fromEntries(issues.map(({ field }) => [field, 'v'.repeat(100)]));
    expect(
      JSON.stringify(toErrorBody(new ForgeError('internal', 'x', { details: wide }))).length,
    ).toBeLessThan(LIMITS.error_details_length);
  });
});
