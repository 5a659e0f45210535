import { describe, expect, it } from 'vitest';
import { decidePermission } from '../decide-permission.ts';
import { CodexItems } from './codex-items.ts';

const CWD = '/nowhere/checkout';

describe('what Codex asks for', () => {
  it.each([
    ["/bin/bash -lc 'npm test'", 'npm test', 'allowed'],
    ["bash -lc 'npm test'", 'npm test', 'allowed'],
    ["/usr/bin/zsh -lc 'ls'", 'ls', 'allowed'],
    ["./bash -lc 'npm test'", "./bash -lc 'npm test'", 'ask'],
    ["/tmp/evil/sh -c 'npm test'", "/tmp/evil/sh -c 'npm test'", 'ask'],
    ["./bash -lc 'ls'", "./bash -lc 'ls'", 'ask'],
  ])('[S-H5] %s is judged as %s: %s', (command, judged, decision) => {
    const ask = new CodexItems().toAsk('1', 'command', { command, cwd: CWD });
    expect(ask.command).toBe(judged);
    const rules = { policy: 'ask', read_only: false, cwd: CWD, allow: ['npm test'] } as const;
    expect(decidePermission(ask, rules).decision).toBe(decision);
  });
});
