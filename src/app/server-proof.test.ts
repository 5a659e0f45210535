import { expect, test } from 'vitest';
import { isProof, proveToken } from './server-proof.ts';

const reached = { address: '127.0.0.1', port: 8080 };

test('a proof is of one token, one challenge and one address', () => {
  const proof = proveToken('fgt_a', 'c', reached);
  expect(isProof(proof, proveToken('fgt_a', 'c', reached))).toBe(true);
  for (const other of [
    proveToken('fgt_b', 'c', reached),
    proveToken('fgt_a', 'd', reached),
    proveToken('fgt_a', 'c', { ...reached, address: '127.0.0.2' }),
    proveToken('fgt_a', 'c', { ...reached, address: '::1' }),
    proveToken('fgt_a', 'c', { ...reached, port: 8081 }),
    proof.slice(1),
    undefined,
    7,
  ])
    expect(isProof(other, proof)).toBe(false);
  expect(proof).not.toContain('fgt_a');
});

test('a server that listens to both generations of addresses proves the one that the client sees', () => {
  expect(proveToken('t', 'c', { ...reached, address: '::ffff:127.0.0.1' })).toBe(
    proveToken('t', 'c', reached),
  );
});

test('a proof is the same in every version: client and server may be of two', () => {
  expect(proveToken('fgt_a', 'c', reached)).toBe(
    '23d91d122863fa225e319eefcb04b639045cc550c64bccc53808b9214bc44078',
  );
  expect(proveToken('fgt_a', 'c', { address: undefined, port: undefined })).toBe(
    '535a86d43bfd206dade9867b543896f39a7e306152600e4ed712df8a6473341e',
  );
});
