import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { addAgent, getAgent, listAgents, pauseAgent, removeAgent } from './agent-identities.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
/** Of an identity that Forge does not start. */
const EXTERNAL = {
  paused_at: null,
  resumed_at: null,
  profile: null,
  profile_name: null,
  env: {},
  max: null,
  version: 1,
};

describe('[S121] agents.jsonl', () => {
  it('has a line for each identity, and adding again changes nothing', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    expect(listAgents(home)).toEqual([]);
    const one = { name: 'worker-1', description: '', created_at: '2026-02-10T09:00:00.000Z' };
    expect(await addAgent(home, { name: 'worker-1', description: undefined, now: NOW })).toEqual({
      ...one,
      ...EXTERNAL,
      outcome: 'added',
    });
    await addAgent(home, { name: 'Ünïcode 😀', description: 'a "quoted"\nline', now: NOW });
    const text = await folder.read('agents.jsonl');
    expect(text.split('\n')[0]).toBe(JSON.stringify(one));
    expect(text.split('\n')).toHaveLength(3);
    expect(await addAgent(home, { name: 'worker-1', description: undefined, now: NOW + 1 })).toEqual({
      ...one,
      ...EXTERNAL,
      outcome: 'unchanged',
    });
    expect(await folder.read('agents.jsonl')).toBe(text);
    expect(listAgents(home).map(({ name }) => name)).toEqual(['worker-1', 'Ünïcode 😀']);
  });

  it.each(['system', 'System', 'user:root', 'agent:ext1', 'USER:x'])(
    '[L15] refuses %s, which the log would take for another person',
    async (name) => {
      await using folder = await tempFolder();
      await expect(addAgent(folder.path, { name, now: NOW })).rejects.toMatchObject({
        code: 'invalid_input',
      });
      expect(listAgents(folder.path)).toEqual([]);
    },
  );

  it('refuses a name that looks like a key, without saying it again', async () => {
    await using folder = await tempFolder();
    const name = `ghp_${'a1B2'.repeat(9)}`;
    const refused = await addAgent(folder.path, { name, now: NOW }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'invalid_input' });
    expect(JSON.stringify([String(refused), refused])).not.toContain(name);
    expect(listAgents(folder.path)).toEqual([]);
  });

  it('keeps keys that it does not know, in lines that change and in those that do not', async () => {
    await using folder = await tempFolder();
    const other = '{"name":"b",  "token":"t", "__proto__": 1}';
    await folder.write(
      'agents.jsonl',
      `{"profile":{"model":"x"},"name":"a","created_at":"then"}\n${other}\n`,
    );
    expect(await addAgent(folder.path, { name: 'a', description: 'new', now: NOW })).toEqual({
      name: 'a',
      description: 'new',
      created_at: 'then',
      ...EXTERNAL,
      version: 2,
      outcome: 'updated',
    });
    expect(await folder.read('agents.jsonl')).toBe(
      `{"profile":{"model":"x"},"name":"a","created_at":"then","description":"new","version":2}\n${other}\n`,
    );
  });

  it('[S209] has a version that rises with every change, and refuses a change of an older one', async () => {
    await using folder = await tempFolder();
    const change = (description: string, version?: number) =>
      addAgent(folder.path, { name: 'a', description, version, now: NOW });
    await expect(change('first', 1)).rejects.toMatchObject({ code: 'version_conflict' });
    expect(await change('first')).toMatchObject({ version: 1 });
    expect(await change('second', 1)).toMatchObject({ version: 2 });
    await expect(change('third', 1)).rejects.toMatchObject({
      code: 'version_conflict',
      details: { name: 'a', version: 2 },
    });
    expect(await change('second', 2)).toMatchObject({ version: 2, outcome: 'unchanged' });
    expect(await pauseAgent(folder.path, { name: 'a', paused: true, now: NOW })).toMatchObject({
      version: 3,
    });
    expect(getAgent(folder.path, 'a')).toMatchObject({ description: 'second', version: 3 });
  });

  it('pauses and resumes one, once each', async () => {
    await using folder = await tempFolder();
    for (const name of ['a', 'b']) await addAgent(folder.path, { name, description: undefined, now: NOW });
    const pause = (paused: boolean, now: number) => pauseAgent(folder.path, { name: 'a', paused, now });
    const paused_at = '2026-02-10T09:00:00.000Z';
    expect(await pause(true, NOW)).toMatchObject({ name: 'a', paused_at });
    expect(await pause(true, NOW + 1_000)).toMatchObject({ paused_at });
    expect(getAgent(folder.path, 'a')).toMatchObject({ paused_at });
    expect(getAgent(folder.path, 'b')).toMatchObject({ paused_at: null });
    expect(await pause(false, NOW)).toMatchObject({ paused_at: null, resumed_at: paused_at });
    // Also where it was not paused: faults from before count no more.
    const resumed_at = '2026-02-10T09:00:01.000Z';
    expect(await pause(false, NOW + 1_000)).toMatchObject({ paused_at: null, resumed_at });
    expect(getAgent(folder.path, 'a')).toMatchObject({ resumed_at });
    await expect(pauseAgent(folder.path, { name: 'c', paused: true, now: NOW })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('removes one line, and refuses a name that is not there', async () => {
    await using folder = await tempFolder();
    for (const name of ['a', 'b']) await addAgent(folder.path, { name, description: undefined, now: NOW });
    expect(await removeAgent(folder.path, 'a')).toMatchObject({ name: 'a' });
    expect(listAgents(folder.path).map(({ name }) => name)).toEqual(['b']);
    await expect(removeAgent(folder.path, 'a')).rejects.toMatchObject({
      code: 'not_found',
      hint: 'forge agent list',
    });
  });

  it('is left alone when it is damaged', async () => {
    await using folder = await tempFolder();
    for (const text of ['{"name":"a"}\n{"name":\n', '{"name":"a"}\n{"nobody":1}\n']) {
      await folder.write('agents.jsonl', text);
      expect(() => listAgents(folder.path)).toThrow('line 2');
      await expect(
        addAgent(folder.path, { name: 'b', description: undefined, now: NOW }),
      ).rejects.toMatchObject({
        code: 'invalid_input',
      });
      expect(readFileSync(join(folder.path, 'agents.jsonl'), 'utf8')).toBe(text);
    }
  });
});
