import { describe, expect, it } from 'vitest';
import type { Attempt } from '#contract/attempt.ts';
import { toAttemptEnvironment } from './attempt-environment.ts';

function environment(port: number | null, ports: number): Record<string, string> {
  // Only what is looked at.
  const place = {
    env: { PATH: '/bin' },
    settings: () => ({ workspace: { ports } }),
    repo: { common_dir: '/repo/.git' },
    home: '/home/forge',
  } as unknown as Parameters<typeof toAttemptEnvironment>[0];
  const attempt = { id: 'a1', task_id: 'fg-1', name: 'fg-1-1', path: '/folder', port } as Attempt;
  return toAttemptEnvironment(place, attempt, { MORE: 'x' });
}

describe('what is started in the folder of an attempt', () => {
  it('knows its ports by name, the first one as PORT', () => {
    const { PORT, PORT_1, PORT_2, ...rest } = environment(4_000, 3);
    expect([PORT, PORT_1, PORT_2]).toEqual(['4000', '4001', '4002']);
    expect(Object.keys(rest).filter((name) => name.startsWith('PORT'))).toEqual([]);
  });

  it('has none where the attempt has none', () => {
    expect(Object.keys(environment(null, 3)).filter((name) => name.startsWith('PORT'))).toEqual([]);
  });

  it('knows its task, its attempt and its folder', () => {
    expect(environment(null, 0)).toMatchObject({
      FORGE_TASK_ID: 'fg-1',
      FORGE_ATTEMPT_ID: 'a1',
      FORGE_WORKTREE: '/folder',
      COMPOSE_PROJECT_NAME: 'forge-fg-1-1',
      MORE: 'x',
    });
  });
});
