import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { acceptArgv } from './accept-argv.ts';
import { createCompletionModel } from './completion-model.ts';
import { describeCommand } from './describe-command.ts';
import { FLAG_TABLE } from './flag-table.generated.ts';

const accept = (...argv: string[]): unknown => {
  const accepted = acceptArgv(['workflow', ...argv], FLAG_TABLE);
  return accepted === undefined ? undefined : { input: accepted.input, files: accepted.files };
};

describe('an argument that is a file', () => {
  it('is read later, from its path or from standard input', () => {
    expect(accept('validate', 'draft.json')).toEqual({
      input: {},
      files: [{ field: 'definition', path: 'draft.json' }],
    });
    expect(accept('set', '-', '--force')).toEqual({
      input: { force: true },
      files: [{ field: 'definition', path: '-' }],
    });
    expect(accept('validate')).toEqual({ input: {}, files: [] });
  });

  it('is left to the slow parser where it is empty or one too many', () => {
    expect(accept('validate', '')).toBeUndefined();
    expect(accept('validate', 'a', 'b')).toBeUndefined();
  });

  it('is called a file in help, and completed as one', () => {
    const entry = FLAG_TABLE.entries['workflow.set']?.();
    const declaration = OPERATIONS.find(({ name }) => name === 'workflow.set');
    if (entry === undefined || declaration === undefined) throw new Error('workflow.set is gone');
    expect(describeCommand(declaration, entry).usage).toBe('forge workflow set [file] [flags]');
    const command = createCompletionModel(OPERATIONS, FLAG_TABLE).commands.find(
      ({ path }) => path === 'workflow set',
    );
    expect(command?.args).toEqual([
      { name: 'definition', value: { words: [], from: 'files' }, repeats: false },
    ]);
  });
});
