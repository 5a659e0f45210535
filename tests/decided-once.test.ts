import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const STORE = join(import.meta.dirname, '../src/store');

/** What says that a rule of tasks was not met. A rule is decided and explained in `src/domain`; the store applies. */
const RULES = ['claim_conflict', 'dependency_gate', 'role_conflict', 'project_paused', 'state_invalid'];

/** The lines that make an error of a rule; those that only speak of one in a comment are none. */
function findRefusals(text: string): string[] {
  return text.split('\n').filter((line) => {
    const code = line.replace(/\/\/.*$|^\s*\/?\*.*$/, '');
    return RULES.some(
      (rule) => code.includes(`ForgeError('${rule}'`) || (/^\s*'/.test(code) && code.includes(`'${rule}',`)),
    );
  });
}

describe('rules are decided once', () => {
  it.each([
    ["  throw new ForgeError('state_invalid', `${id} is closed`);", 1],
    ["  throw new ForgeError(\n    'claim_conflict',\n    `It belongs to ${owner}`,\n  );", 1],
    ['  /** Throws state_invalid unless the task is closed. */', 0],
    ["): Pick<ClaimFacts, 'claimer' | 'companions' | 'project_paused'> {", 0],
  ])('the check sees a refusal in %j: %i', (text, count) => {
    expect(findRefusals(text)).toHaveLength(count);
  });

  it('no file of the store refuses by a rule of its own', () => {
    const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !/test\.ts$|behaviour/.test(name),
    );
    expect(files.length).toBeGreaterThan(80);
    const found = files.flatMap((name) =>
      findRefusals(readFileSync(join(STORE, name), 'utf8')).map((line) => `${name}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});
