import type { FieldRule } from './flag-table.ts';

const INTEGER = /^-?\d+$/;

/**
 * What a word of the command line means for a field; both parsers read it so. A word that does not fit stays
 * the text it is, for the check that follows to refuse.
 */
export function readFieldValue(rule: FieldRule, text: string): unknown {
  if (rule.nullable === true && text === 'none') return null;
  // Adding zero turns -0 into 0.
  if (rule.kind === 'integer') {
    const digits = rule.priority === true ? text.replace(/^p(?=\d$)/i, '') : text;
    return INTEGER.test(digits) ? Number(digits) + 0 : text;
  }
  return text;
}

/** Whether a single value keeps the rule. For `strings` ask about each element, for `assignments` about each key. */
export function holdsRule(rule: FieldRule, value: unknown): boolean {
  if (value === null) return rule.nullable === true;
  if (rule.kind === 'boolean') return typeof value === 'boolean';
  if (rule.kind === 'integer')
    return Number.isSafeInteger(value) && isBetween(value as number, rule.minimum, rule.maximum);
  if (typeof value !== 'string') return false;
  if (rule.values !== undefined) return rule.values.includes(value);
  return isBetween(value.length, rule.minLength, rule.maxLength) && matches(rule, value);
}

function isBetween(value: number, least: number | undefined, most: number | undefined): boolean {
  return (least === undefined || value >= least) && (most === undefined || value <= most);
}

function matches(rule: FieldRule, value: string): boolean {
  return rule.pattern === undefined || new RegExp(rule.pattern[0], rule.pattern[1]).test(value);
}
