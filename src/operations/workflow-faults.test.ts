import { describe, expect, it } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { parseWorkflow } from './workflow-faults.ts';

function failure(text: string): string | undefined {
  try {
    parseWorkflow(text, 'The workflow');
    return undefined;
  } catch (error) {
    return isForgeError(error) ? `${error.code}: ${error.message}` : String(error);
  }
}

describe('[J3] a workflow as text', () => {
  it('of more values or keys than a body may have is refused before it is parsed', () => {
    const size = LIMITS.workflow_bytes / 4;
    for (const value of ['{}', '[]', '""', '0'])
      expect(failure(`{"states":[${`${value},`.repeat(size / 2)}0]}`)).toBe(
        `too_large: The workflow has more than ${LIMITS.body_values} values`,
      );
    const keys = Array.from({ length: LIMITS.body_keys + 1 }, (_, at) => `"k${at}":1`);
    expect(failure(`{${keys.join(',')}}`)).toBe(
      `too_large: The workflow has more than ${LIMITS.body_keys} keys`,
    );
  });

  it('with faults is told them all the same', () => {
    expect(failure('{"states":[{}]}')).toMatch(/^invalid_input: The workflow has \d+ faults?$/);
  });
});
