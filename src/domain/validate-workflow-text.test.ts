import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import { validateWorkflowText } from './validate-workflow-text.ts';

function faultsOf(text: string): string[] {
  const { workflow, faults } = validateWorkflowText(text);
  expect(workflow === undefined).toBe(faults.length > 0);
  return faults.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
}

describe('validateWorkflowText', () => {
  it.each(['', '  \n\t', '{}', ' { } \n', '\uFEFF{}', '\uFEFF'])('[S167] %j is the default', (text) => {
    expect(validateWorkflowText(text)).toEqual({ workflow: DEFAULT_WORKFLOW, faults: [] });
  });

  it('takes the default written out', () => {
    expect(validateWorkflowText(JSON.stringify(DEFAULT_WORKFLOW, null, 2)).workflow).toEqual(
      DEFAULT_WORKFLOW,
    );
  });

  it('[S176] names every fault with its line and column, in the order of the text', () => {
    const text = `{
  "cancelation_state": "done",
  "states": [
    { "name": "todo", "kind": "initial", "next": ["doing", "review"] },
    { "name": "doing", "kind": "active", "role": "coder",
      "next": ["done"],
      "on_enter": [{ "action": "dance" }] },
    { "name": "done", "kind": "terminal",
      "next": ["todo"] },
    { "name": "island", "kind": "custom" }
  ]
}`;
    expect(faultsOf(text)).toEqual([
      '1:1 cancellation_state: is missing, and no state is called "cancelled": a task that is cancelled must end somewhere',
      '2:3 cancelation_state: unknown key "cancelation_state"',
      '4:60 states[0].next[1]: no state is called "review"',
      '5:42 states[1].role: no role is called "coder"',
      '7:22 states[1].on_enter[0].action: no action is called "dance"',
      '9:7 states[2].next: "done" is terminal: no edge leads out of it',
      '10:5 states[3]: nothing leads to "island"',
      '10:5 states[3].next: nothing leads on from "island", and it is not terminal',
    ]);
  });

  it('looks at a limited number of keys and values, however short they are', () => {
    const text = (count: number): string =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1])));
    expect(faultsOf(text(LIMITS.body_values + 1))).toEqual([
      `1:1 : has more than ${LIMITS.body_values} keys and values`,
    ]);
    expect(faultsOf(text(LIMITS.body_values))[0]).toContain('unknown key "k0"');
  });

  it('names the place where the text stops to be JSON', () => {
    expect(faultsOf('{\n  "states": [],\n}')).toEqual(['3:1 : not valid JSON: no "," may stand before "}"']);
    expect(faultsOf('nonsense')).toEqual(['1:1 : not valid JSON: a value is missing']);
  });

  it('knows a merge conflict when it sees one', () => {
    const text =
      '{\n<<<<<<< ours\n  "roles": [],\n=======\n  "roles": ["a"],\n>>>>>>> theirs\n  "states": []\n}\n';
    expect(validateWorkflowText(text).faults).toEqual([
      expect.objectContaining({ line: 2, column: 1, hint: 'Resolve the merge conflict in it' }),
    ]);
  });

  it('names keys that stand twice, though JSON keeps the last and the result is fine', () => {
    const text = JSON.stringify(DEFAULT_WORKFLOW);
    const twice = text
      .replace('"roles":', '"roles":[],"roles":')
      .replace('"name":"done"', '"name":"x","name":"done"');
    expect(faultsOf(twice).map((line) => line.replace(/^\d+:\d+ /, ''))).toEqual([
      'roles: the key "roles" stands here twice',
      'states[8].name: the key "name" stands here twice',
    ]);
    expect(JSON.parse(twice)).toEqual(DEFAULT_WORKFLOW);
  });

  it('refuses a text that is too long without looking at it', () => {
    expect(faultsOf('['.repeat(10_000_000))).toEqual([
      `1:1 : is longer than ${LIMITS.workflow_bytes} characters`,
    ]);
  });

  it('says where a text of the longest length is too deep', () => {
    expect(faultsOf('{"a":'.repeat(100_000))).toEqual([
      `1:${LIMITS.metadata_depth * 5 + 1} : not valid JSON: nested deeper than ${LIMITS.metadata_depth} levels`,
    ]);
  });

  it('says last that there is more', () => {
    const { faults } = validateWorkflowText(
      JSON.stringify({
        states: [],
        ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, 1])),
      }),
    );
    expect(faults.at(-1)?.message).toBe('and 102 faults more');
  });
});
