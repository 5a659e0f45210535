import { describe, expect, it } from 'vitest';
import { refuseSecretNames } from './warn-of-secrets.ts';

const KEY = `ghp_${'a1B2'.repeat(9)}`;

describe('[H5] a name that looks like a key', () => {
  it.each([
    ['labels', { labels: ['slow', KEY] }],
    ['labels_add', { labels_add: [KEY] }],
    ['metadata', { metadata: { [KEY]: 1 } }],
    ['metadata_set', { metadata_set: { a: 1, [KEY]: 1 } }],
  ])('is refused as one of %s, and not repeated', (field, input) => {
    const refuse = (): void => refuseSecretNames(input);
    expect(refuse).toThrow(new RegExp(`^${field}: .* looks like a GitHub token`));
    expect(refuse).not.toThrow(KEY);
  });

  it('can be taken out, and may stand in values, which are told of', () => {
    for (const input of [
      { labels_remove: [KEY], metadata_unset: [KEY] },
      { metadata_set: { a: KEY }, description: KEY },
      { labels: ['slow'], metadata: null },
    ])
      expect(() => refuseSecretNames(input)).not.toThrow();
  });
});
