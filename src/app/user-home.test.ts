import { homedir } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { userHome } from './user-home.ts';

describe('the home of the user', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['named', '/home/ada'],
    ['empty', ''],
    ['not named', undefined],
  ])('is what Node says where it is %s', (_, home) => {
    vi.stubEnv('HOME', home);
    vi.stubEnv('USERPROFILE', home);
    expect(userHome()).toBe(homedir());
  });
});
