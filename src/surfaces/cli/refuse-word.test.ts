import { describe, expect, it } from 'vitest';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { refuseWord } from './refuse-word.ts';

describe('a word that is no command', () => {
  it.each([
    [['ls'], 'forge task list'],
    [['task', 'ls'], 'forge task list'],
    [['undo'], 'forge task restore'],
    [['rm'], 'forge task delete'],
    [['done'], 'forge task close'],
    [['config'], 'forge settings list'],
    [['create'], 'forge task create'],
    [['redy'], 'forge ready'],
    [['agent', 'lst'], 'forge agent list'],
  ])('%j is answered with %s', (path, meant) => {
    expect(refuseWord(path, FLAG_TABLE).message).toBe(
      `Unknown command: forge ${path.join(' ')}; did you mean ${meant}?`,
    );
  });

  it('is answered with nothing where nothing is near', () => {
    expect(refuseWord(['xyzzy'], FLAG_TABLE).message).toBe('Unknown command: forge xyzzy');
    expect(refuseWord(['constructor'], FLAG_TABLE).message).toBe('Unknown command: forge constructor');
  });
});
