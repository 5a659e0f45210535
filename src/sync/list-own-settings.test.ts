import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { changeSetting } from './change-setting.ts';
import { listOwnSettings } from './list-own-settings.ts';

describe('forge settings list', () => {
  it('has what the person has set, and with all what could be', async () => {
    await using folder = await tempFolder();
    expect(listOwnSettings(folder.path, { all: false })).toEqual([]);
    await changeSetting(folder.path, 'merge.strategy', 'squash');
    await changeSetting(folder.path, 'caps.task_usd', 5);
    expect(listOwnSettings(folder.path, { all: false })).toEqual([
      { key: 'caps.task_usd', value: 5 },
      { key: 'merge.strategy', value: 'squash' },
    ]);
    const every = listOwnSettings(folder.path, { all: true });
    expect(every).toContainEqual({ key: 'caps.run_usd', value: null });
    expect(every.length).toBeGreaterThan(20);
  });

  it('has one of them, set or not, or a section, and knows no other', async () => {
    await using folder = await tempFolder();
    await changeSetting(folder.path, 'caps.task_usd', 5);
    const list = (key: string): unknown => listOwnSettings(folder.path, { key, all: false });
    expect(list('caps.task_usd')).toEqual([{ key: 'caps.task_usd', value: 5 }]);
    expect(list('caps.run_usd')).toEqual([{ key: 'caps.run_usd', value: null }]);
    expect(list('caps')).toEqual([{ key: 'caps.task_usd', value: 5 }]);
    expect(list('merge')).toEqual([]);
    expect(list('prices')).toEqual([]);
    expect(() => list('caps.nothing')).toThrow('There is no setting caps.nothing');
    writeFileSync(join(folder.path, 'settings.json'), '{');
    expect(() => list('caps')).toThrow('settings.json');
  });
});
