import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { WHY_NOT_ALONE } from '../support/hostile-marks.ts';
import { hostilePlace } from '../support/hostile-place.ts';
import { findViolations } from '../support/hostile-repositories.ts';
import { HOSTILE_SETTINGS } from '../support/hostile-settings.ts';
import { LEFT_OUT, VERBS } from '../support/hostile-verbs.ts';

describe('the sweep of hostile repositories', () => {
  it('[B1] has a line for every operation', () => {
    const swept = new Set(VERBS.map(([operation]) => operation));
    const all = OPERATIONS.map(({ name }) => name);
    expect(all.filter((name) => !swept.has(name) && !LEFT_OUT.has(name))).toEqual([]);
    expect([...swept, ...LEFT_OUT].filter((name) => !all.includes(name))).toEqual([]);
  });

  it('[B1] finds a program that a verb runs, and names the verb', async () => {
    const [filter] = HOSTILE_SETTINGS.filter(({ may }) => may?.['clean'] !== undefined);
    if (filter === undefined) throw new Error('no repository has a filter that cleans');
    await using place = await hostilePlace(filter);
    const swept = await place.sweep(['project.init', 'task.create', 'sync.commit']);
    expect(findViolations({ ...filter, may: {} }, swept)).toEqual(['forge commit --message Plan: clean']);
    expect(findViolations(filter, swept)).toEqual([]);
  });

  it('[B1] finds a file outside that was changed', async () => {
    await using place = await hostilePlace({ name: 'nothing', careless: () => 'true' });
    expect(await place.shell('true')).toEqual([]);
    expect(await place.shell(`echo x > ${place.canary.treasure}/notes.txt`)).toEqual(['changed notes.txt']);
    expect(await place.shell(`rm -r ${place.canary.treasure}`)).toEqual(['changed treasure']);
    expect(await place.shell('true')).toEqual([]);
  });

  it.skipIf(WHY_NOT_ALONE !== undefined)(
    `[B2] finds packets to other machines, to this one and to servers of names${WHY_NOT_ALONE === undefined ? '' : ` (${WHY_NOT_ALONE})`}`,
    async () => {
      await using place = await hostilePlace({ name: 'nothing', careless: () => 'true' });
      for (const address of ['192.0.2.1', '127.0.0.1', '2001:db8::1', 'evil.example'])
        expect([
          address,
          ...(await place.shell(`node -e "require('net').connect(9, '${address}').on('error', () => 0)"`)),
        ]).toEqual([address, 'packets']);
    },
  );
});
