import { describe, expect, it } from 'vitest';
import { createSecrets } from '#engine/agent-secrets.ts';
import { LIMITS } from '#kernel/limits.ts';
import { holdsSecrets } from './find-in-slices.ts';

const KEY = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
const { redact } = createSecrets(['correct-horse-battery']);

describe('a long text that is looked at for secrets', () => {
  it('is looked at in slices, with turns for others between them', async () => {
    const seen: number[] = [];
    let turns = 0;
    let isOver = false;
    const tick = (): void => {
      turns += 1;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    const look = (text: string): string => {
      seen.push(text.length);
      return text;
    };
    expect(await holdsSecrets('x'.repeat(1_000_000), look)).toBe(false);
    isOver = true;
    expect(Math.max(...seen)).toBeLessThanOrEqual(65_536 + LIMITS.secret_beyond_length);
    expect(seen.length).toBeGreaterThan(10);
    expect(turns).toBeGreaterThanOrEqual(seen.length - 1);
  });

  it.each([
    ['as it is', KEY],
    ['one that is known', 'correct-horse-battery'],
    ['in base64', Buffer.from(`lorem ipsum ${KEY} dolor`).toString('base64')],
    ['in escapes', KEY.replaceAll(/./g, (sign) => `\\${(sign.codePointAt(0) ?? 0).toString(16)} `)],
  ])('is found wherever a cut is: %s', async (_name, text) => {
    for (const before of [0, 65_536 - text.length, 65_536 - 20, 65_536 - 1, 65_536, 131_072 - 7]) {
      const long = `${'-'.repeat(before)} ${text} ${'-'.repeat(70_000)}`;
      expect(await holdsSecrets(long, redact)).toBe(true);
    }
    expect(await holdsSecrets(`${'-'.repeat(200_000)}`, redact)).toBe(false);
    expect(await holdsSecrets('', redact)).toBe(false);
  });
});
