import { expect, it } from 'vitest';
import { suggestSetup } from './suggest-setup.ts';

it.each([
  [['package-lock.json', 'README.md'], 'npm ci'],
  [['pnpm-lock.yaml'], 'pnpm install --frozen-lockfile'],
  [['uv.lock', 'package-lock.json'], 'npm ci'],
  [['uv.lock'], 'uv sync --frozen'],
  [['Cargo.lock', 'go.sum'], undefined],
  [[], undefined],
] as const)('%j: %s', (files, command) => {
  expect(suggestSetup((file) => (files as readonly string[]).includes(file))?.command).toBe(command);
});
