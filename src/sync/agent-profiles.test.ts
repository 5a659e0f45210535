import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { addAgent, getAgent, listAgents, pauseAgent, removeAgent } from './agent-identities.ts';
import {
  addProfile,
  getProfile,
  listProfiles,
  type NewProfile,
  type ProfileWish,
  removeProfile,
} from './agent-profiles.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const CREATED = '2026-02-10T09:00:00.000Z';

function profile(name: string, wish: ProfileWish, more: Partial<NewProfile> = {}): NewProfile {
  return { name, wish, now: NOW, check: () => undefined, ...more };
}

describe('agents that Forge starts', () => {
  it('have their set-up in their line, in a file of the owner alone', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    const added = await addAgent(home, {
      name: 'w',
      wish: { executor: 'shell', command: ['bash', '-c', 'x'] },
      env: { API_KEY: 'secret' },
      max: 2,
      now: NOW,
    });
    expect(added).toEqual({
      name: 'w',
      description: '',
      created_at: CREATED,
      paused_at: null,
      resumed_at: null,
      profile: { executor: 'shell', command: ['bash', '-c', 'x'], permissions: 'edits' },
      profile_name: null,
      env: { API_KEY: 'secret' },
      max: 2,
      version: 1,
      outcome: 'added',
    });
    expect(statSync(join(home, 'agents.jsonl')).mode & 0o777).toBe(0o600);
    expect(await folder.read('agents.jsonl')).toBe(
      `{"name":"w","description":"","created_at":"${CREATED}","profile":{"executor":"shell","command":["bash","-c","x"]},"env":{"API_KEY":"secret"},"max":2}\n`,
    );
    const { outcome: _, ...agent } = added;
    expect(listAgents(home)).toEqual([agent]);
  });

  it('close a file that was open to others before it holds a secret, whoever changes it', async () => {
    await using folder = await tempFolder();
    await folder.write('agents.jsonl', '{"name":"a","env":{"K":"secret"}}\n');
    expect(statSync(join(folder.path, 'agents.jsonl')).mode & 0o077).not.toBe(0);
    await pauseAgent(folder.path, { name: 'a', paused: true, now: NOW });
    expect(statSync(join(folder.path, 'agents.jsonl')).mode & 0o777).toBe(0o600);
  });

  it('change in what is given and nothing else, and begin anew with another executor', async () => {
    await using folder = await tempFolder();
    const add = (wish: ProfileWish | undefined, more: object = {}) =>
      addAgent(folder.path, { name: 'w', wish, now: NOW, ...more });
    await add({ executor: 'claude', model: 'opus', effort: 'high' }, { env: { A: '1', B: '2' }, max: 3 });
    expect(await add({ model: 'sonnet' })).toMatchObject({
      profile: { executor: 'claude', model: 'sonnet', effort: 'high' },
      env: { A: '1', B: '2' },
      max: 3,
      outcome: 'updated',
    });
    expect(await add({ executor: 'claude' })).toMatchObject({ outcome: 'unchanged' });
    expect(await add(undefined, { env: { C: '3' } })).toMatchObject({ env: { C: '3' } });
    const { profile: other } = await add({ executor: 'shell', command: ['true'] });
    expect(other).toEqual({ executor: 'shell', command: ['true'], permissions: 'edits' });
  });

  it('are refused without an executor, and where it could not run by the set-up', async () => {
    await using folder = await tempFolder();
    const nameless = addAgent(folder.path, { name: 'w', env: { A: '1' }, now: NOW });
    await expect(nameless).rejects.toMatchObject({ code: 'invalid_input' });
    const check = (): never => {
      throw new ForgeError('invalid_input', 'unfit');
    };
    const unfit = addAgent(folder.path, { name: 'w', wish: { executor: 'x' }, now: NOW, check });
    await expect(unfit).rejects.toMatchObject({ message: 'unfit' });
    expect(listAgents(folder.path)).toEqual([]);
  });
});

describe('named profiles', () => {
  it('are lines of a file of the owner alone, in the order they were added', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    await addProfile(home, profile('b', { executor: 'claude' }, { env: { K: 'v' }, description: 'B' }));
    await addProfile(home, profile('a', { executor: 'null' }));
    expect(listProfiles(home)).toEqual([
      {
        name: 'b',
        description: 'B',
        created_at: CREATED,
        profile: { executor: 'claude', permissions: 'edits' },
        env: { K: 'v' },
      },
      {
        name: 'a',
        description: '',
        created_at: CREATED,
        profile: { executor: 'null', permissions: 'edits' },
        env: {},
      },
    ]);
    expect(statSync(join(home, 'profiles.jsonl')).mode & 0o777).toBe(0o600);
    const before = await folder.read('profiles.jsonl');
    expect(await addProfile(home, profile('b', { executor: 'claude' }))).toMatchObject({
      outcome: 'unchanged',
    });
    expect(await folder.read('profiles.jsonl')).toBe(before);
    expect(await removeProfile(home, 'b')).toMatchObject({ name: 'b' });
    expect(() => getProfile(home, 'b')).toThrow(expect.objectContaining({ code: 'not_found' }));
    await expect(addProfile(home, profile('c', {}))).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('keep keys that others wrote', async () => {
    await using folder = await tempFolder();
    await folder.write('profiles.jsonl', '{"name":"p","ours":1,"profile":{"executor":"claude","mine":2}}\n');
    await addProfile(folder.path, profile('p', { model: 'opus' }));
    expect(await folder.read('profiles.jsonl')).toBe(
      '{"name":"p","ours":1,"profile":{"executor":"claude","mine":2,"model":"opus"}}\n',
    );
  });

  it('are what agents begin with, and agents follow their changes', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    await addProfile(home, profile('p', { executor: 'claude', model: 'opus' }, { env: { A: '1', B: '2' } }));
    await addAgent(home, {
      name: 'w',
      wish: { from: 'p', effort: 'high' },
      env: { B: '3' },
      now: NOW,
    });
    expect(getAgent(home, 'w')).toMatchObject({
      profile: { executor: 'claude', model: 'opus', effort: 'high', permissions: 'edits' },
      profile_name: 'p',
      env: { A: '1', B: '3' },
    });
    await addProfile(home, profile('p', { model: 'sonnet', permissions: 'ask' }));
    expect(getAgent(home, 'w').profile).toMatchObject({ model: 'sonnet', permissions: 'ask' });
    await removeProfile(home, 'p');
    expect(getAgent(home, 'w')).toMatchObject({ profile: null, profile_name: 'p' });
    const lost = addAgent(home, { name: 'v', wish: { from: 'p' }, now: NOW });
    await expect(lost).rejects.toMatchObject({ code: 'not_found' });
    await removeAgent(home, 'w');
  });

  it('do not let a name of JavaScript in', async () => {
    await using folder = await tempFolder();
    await folder.write(
      'agents.jsonl',
      '{"name":"a","profile":{"executor":"null"},"env":{"__proto__":"x"}}\n',
    );
    const { env } = getAgent(folder.path, 'a');
    expect(Object.entries(env)).toEqual([['__proto__', 'x']]);
    expect({}).not.toHaveProperty('x');
  });
});
