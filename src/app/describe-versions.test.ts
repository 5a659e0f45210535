import { expect, it } from 'vitest';
import { describeVersions } from './describe-versions.ts';

it.each([
  ['0.1.0', '0.2.0', 'update Forge where the server runs, and start it again'],
  ['0.9.0', '0.10.0', 'update Forge where the server runs, and start it again'],
  ['0.2.1', '0.2.0', 'update Forge here'],
  ['1.0.0', '0.99.99', 'update Forge here'],
  ['1.0.0-rc.1', '1.0.0', 'use the same version here and where the server runs'],
  ['next', '1.0.0', 'use the same version here and where the server runs'],
])('a server of %s asked by %s', (server, own, advice) => {
  expect(describeVersions(server, own)).toBe(
    `The server is Forge ${server} and this is Forge ${own}: ${advice}`,
  );
});

it('says nothing of the same version, nor of one that is not told', () => {
  expect(describeVersions('1.2.3', '1.2.3')).toBeUndefined();
  expect(describeVersions(undefined, '1.2.3')).toBeUndefined();
});
