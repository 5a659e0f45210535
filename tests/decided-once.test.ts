import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const STORE = join(import.meta.dirname, '../src/store');

/** What says that a rule of tasks was not met. A rule is decided and explained in `src/domain`; the store applies. */
const RULES = ['claim_conflict', 'dependency_gate', 'role_conflict', 'project_paused', 'state_invalid'];

/** The lines that name the code of a rule, also in words: a comment that does is about a rule of the store's own. */
function findRefusals(text: string): string[] {
  return text.split('\n').filter((line) => RULES.some((rule) => line.includes(rule)));
}

describe('rules are decided once', () => {
  it.each([
    ["  throw new ForgeError('state_invalid', `${id} is closed`);", 1],
    ["  throw new ForgeError(\n    'claim_conflict',\n    `It belongs to ${owner}`,\n  );", 1],
    ['  /** Throws state_invalid unless the task is closed. */', 1],
    ["): Pick<ClaimFacts, 'claimer' | 'project_paused'> {", 1],
    ['  /** Throws where `decideClose` refuses. */', 0],
  ])('the check sees a refusal in %j: %i', (text, count) => {
    expect(findRefusals(text)).toHaveLength(count);
  });

  it('no file of the store names the code of a rule', () => {
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
