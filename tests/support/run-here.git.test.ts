import { describe, expect, it } from 'vitest';
import { forgeFolderHere } from './forge-here.ts';
import { FORGE } from './forge-program.ts';
import { lookLike } from './look-like.ts';

const look = () => ({ script: process.argv[1], home: process.env['HOME'] });

describe('a command that runs here', () => {
  it.each([['status'], ['no-such-command']])('leaves the process as it was: %s', async (command) => {
    await using place = await forgeFolderHere();
    const before = look();
    const running = place.run(command);
    expect(look()).toEqual({ script: FORGE, home: place.home });
    expect((await running).exit).not.toBe(0);
    expect(look()).toEqual(before);
  });

  it('leaves it so also where others run beside it, and where it throws', async () => {
    const before = look();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const one = lookLike({ script: 'a', home: 'one' }, () => first.promise);
    const other = lookLike({ script: 'b', home: undefined }, () => second.promise);
    expect(look()).toEqual({ script: 'b', home: undefined });
    second.reject(new Error('it fails'));
    await expect(other).rejects.toThrow('it fails');
    expect(look()).toEqual({ script: 'a', home: 'one' });
    first.resolve();
    await one;
    expect(look()).toEqual(before);
  });
});
