import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openAgentFacts } from './agent-facts.ts';
import { addAgent, pauseAgent } from './agent-identities.ts';
import { addProfile } from './agent-profiles.ts';

it('says at once what has changed since it was opened', async () => {
  const home = mkdtempSync(join(tmpdir(), 'forge-agents-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const facts = openAgentFacts(home);
  const read = async (): Promise<boolean[]> => [await facts.isPaused('w1'), await facts.isManaged('w1')];
  expect(await read()).toEqual([false, false]);
  await addAgent(home, { name: 'w1', now: 0 });
  expect(await read()).toEqual([false, false]);
  await pauseAgent(home, { name: 'w1', paused: true, now: 0 });
  expect(await read()).toEqual([true, false]);
  await addProfile(home, { name: 'p', wish: { executor: 'null' }, now: 0, check: () => undefined });
  await addAgent(home, { name: 'w1', wish: { from: 'p' }, now: 0 });
  expect(await read()).toEqual([true, true]);
});
