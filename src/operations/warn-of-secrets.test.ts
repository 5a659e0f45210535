import { describe, expect, it } from 'vitest';
import { refuseSecretNames } from './warn-of-secrets.ts';

const KEY = `ghp_${'a1B2'.repeat(9)}`;

describe('[H5] a name that looks like a key', () => {
  it.each([
    ['labels', { labels: ['slow', KEY] }],
    ['labels_add', { labels_add: [KEY] }],
    ['metadata', { metadata: { [KEY]: 1 } }],
    ['metadata_set', { metadata_set: { a: 1, [KEY]: 1 } }],
  ])('is refused as one of %s, and not repeated', async (field, input) => {
    const refused = await refuseSecretNames(input).catch((error: unknown) => String(error));
    expect(refused).toMatch(new RegExp(`${field}: .* looks like a GitHub token`));
    expect(refused).not.toContain(KEY);
  });

  it('can be taken out, and may stand in values, which are told of', async () => {
    for (const input of [
      { labels_remove: [KEY], metadata_unset: [KEY] },
      { metadata_set: { a: KEY }, description: KEY },
      { labels: ['slow'], metadata: null },
    ])
      await expect(refuseSecretNames(input)).resolves.toBeUndefined();
  });

  it('is looked for among very many names without holding others up', async () => {
    const names = Array.from({ length: 1_000 }, (_, at) => `name ${at}`);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await refuseSecretNames({ labels_add: names });
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(9);
    await expect(refuseSecretNames({ labels_add: [...names, KEY] })).rejects.toThrow('a GitHub token');
  });
});
