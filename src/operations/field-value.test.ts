import { describe, expect, it } from 'vitest';
import { holdsRule, readFieldValue } from './field-value.ts';
import type { FieldRule } from './flag-table.ts';

const integer: FieldRule = { kind: 'integer', minimum: 0, maximum: 4 };

describe('readFieldValue', () => {
  const cases: readonly [FieldRule, string, unknown][] = [
    [integer, '3', 3],
    [integer, '03', 3],
    [integer, '-3', -3],
    [integer, '-0', 0],
    [integer, '1.5', '1.5'],
    [integer, '1e3', '1e3'],
    [integer, '', ''],
    [integer, ' 3', ' 3'],
    [integer, 'none', 'none'],
    [integer, 'P1', 'P1'],
    [{ ...integer, priority: true }, 'P1', 1],
    [{ ...integer, priority: true }, 'p0', 0],
    [{ ...integer, priority: true }, '2', 2],
    [{ ...integer, priority: true }, 'P12', 'P12'],
    [{ ...integer, priority: true }, 'P', 'P'],
    [{ ...integer, priority: true }, 'P-1', 'P-1'],
    [{ ...integer, nullable: true }, 'none', null],
    [{ kind: 'string', nullable: true }, 'none', null],
    [{ kind: 'string' }, 'none', 'none'],
    [{ kind: 'string' }, '3', '3'],
  ];
  it.each(cases)('%j reads %j as %j', (rule, text, value) => {
    expect(readFieldValue(rule, text)).toBe(value);
  });
});

describe('holdsRule', () => {
  const cases: readonly [FieldRule, unknown, boolean][] = [
    [integer, 0, true],
    [integer, 4, true],
    [integer, 5, false],
    [integer, -1, false],
    [integer, 1.5, false],
    [integer, '1', false],
    [integer, null, false],
    [{ kind: 'integer' }, 2 ** 53, false],
    [{ kind: 'integer', nullable: true }, null, true],
    [{ kind: 'boolean' }, true, true],
    [{ kind: 'boolean' }, 'true', false],
    [{ kind: 'enum', values: ['a', 'b'] }, 'b', true],
    [{ kind: 'enum', values: ['a', 'b'] }, 'c', false],
    [{ kind: 'string', minLength: 1 }, '', false],
    [{ kind: 'string', maxLength: 2 }, 'abc', false],
    [{ kind: 'string', maxLength: 2 }, '🚀', true],
    [{ kind: 'string', maxLength: 2 }, '🚀x', false],
    [{ kind: 'string', pattern: ['^a', ''] }, 'abc', true],
    [{ kind: 'string', pattern: ['^a', ''] }, 'Abc', false],
    [{ kind: 'string', pattern: ['^a', 'i'] }, 'Abc', true],
    [{ kind: 'string' }, 7, false],
  ];
  it.each(cases)('%j for %j: %s', (rule, value, holds) => {
    expect(holdsRule(rule, value)).toBe(holds);
  });
});
