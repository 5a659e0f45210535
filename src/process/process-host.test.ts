import { expect, it } from 'vitest';
import { openProcessHost } from './process-host.ts';

it('several that are opened at once all come to an end, and find the same', async () => {
  const alone = (await openProcessHost()).containment;
  for (let round = 0; round < 5; round += 1) {
    const hosts = await Promise.all(Array.from({ length: 6 }, () => openProcessHost()));
    expect(hosts.map(({ containment }) => containment)).toEqual(hosts.map(() => alone));
  }
});
