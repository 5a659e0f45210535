import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { changeSetting } from './change-setting.ts';
import { readPersonalSettings } from './work-settings.ts';

describe('[A12] forge settings set', () => {
  it('changes one setting, keeps the others, and takes it away', async () => {
    await using home = await tempFolder();
    const file = join(home.path, 'settings.json');
    writeFileSync(file, '{"merge": {"auto": true}, "caps": {"run_usd": 1}}');
    await changeSetting(home.path, 'caps.task_usd', 5);
    await changeSetting(home.path, 'prices.my-model', { input: 2, output: 8 });
    const settings = readPersonalSettings(home.path);
    expect(settings).toMatchObject({ merge: { auto: true }, caps: { run_usd: 1, task_usd: 5 } });
    expect(settings.prices.get('my-model')).toEqual({ input: 2, cached: 2, output: 8 });
    await changeSetting(home.path, 'caps.task_usd', null);
    expect(readPersonalSettings(home.path).caps.task_usd).toBeUndefined();
  });

  it.each([
    ['caps.taskUsd', 5, 'Did you mean caps.task_usd?'],
    ['caps.what', 5, expect.stringContaining('caps.run_usd, ')],
    ['nothing', 5, expect.stringContaining('scheduler, ')],
    ['prices.', 5, expect.stringContaining('prices')],
    ['caps.task_usd', -1, expect.stringMatching(/^Allowed is a number from 0 on/)],
    ['prices.x', { input: 1 }, expect.stringMatching(/^Allowed is /)],
  ])('refuses %s = %o, and leaves the file as it was', async (key, value, hint) => {
    await using home = await tempFolder();
    const file = join(home.path, 'settings.json');
    writeFileSync(file, '{}');
    await expect(changeSetting(home.path, key, value)).rejects.toMatchObject({ code: 'invalid_input', hint });
    expect(readFileSync(file, 'utf8')).toBe('{}');
  });
});
