import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { RUN_HOME, RUN_PROJECT, RUN_SOCKET, RUN_SOCKET_KEY } from '#process/find-own-run.ts';
import { tempFolder } from '../../../tests/support/temp-repo.ts';
import { findCommandPlace } from './inside-run.ts';

const HOME = '/nowhere/.forge';
const RUN = { [RUN_PROJECT]: '/nowhere/repo/.git', [RUN_HOME]: HOME, FORGE_HOME: HOME };
const SOCKET = { [RUN_SOCKET]: '/nowhere/sock', [RUN_SOCKET_KEY]: 'key' };

type Asked = Parameters<typeof findCommandPlace>[0];

/** Where it is done, or how it is refused. */
function place(name: string, more: Partial<Omit<Asked, 'operation'>> = {}): unknown {
  const found = OPERATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  const { needs, local, access } = found;
  const operation = {
    name,
    needs,
    path: name.split('.'),
    ...(local === true && { local }),
    ...(access === 'read' && { reads: true as const }),
  };
  const asked = { env: {}, cwd: '/', server: undefined, actor: undefined, input: {}, ...more };
  try {
    return findCommandPlace({ operation, ...asked }).kind;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

/** Operations of an administrator that an agent of its own may use where it is set up. */
const OPEN = ['mcp.install', 'project.add', 'project.doctor', 'project.init', 'project.onboard'];

describe('[B2] an agent outside of a run', () => {
  it('has no say in what agents may do and what is run, and a new operation is closed to it', () => {
    const admin = OPERATIONS.filter(({ access }) => access === 'admin').map(({ name }) => name);
    const open = admin.filter((name) => place(name, { actor: 'ext' }) === 'here');
    expect(open.toSorted()).toEqual(OPEN);
    expect(place('sync.import', { actor: 'ext' })).toBe('permission_denied');
    expect(place('hooks.uninstall', { actor: 'ext' })).toBe('permission_denied');
    expect(place('hooks.install', { actor: 'ext' })).toBe('here');
    expect(admin.filter((name) => place(name, { actor: 'user:ann' }) !== 'here')).toEqual([]);
  });
});

describe('[B2] flags of open operations that are for a person', () => {
  it.each([
    ['project.init', 'upgrade'],
    ['project.doctor', 'fix'],
    ['project.doctor', 'rebuild'],
  ])('are refused an agent: %s --%s', (name, flag) => {
    expect(place(name, { actor: 'ext', input: { [flag]: true } })).toBe('permission_denied');
    expect(place(name, { actor: 'ext', input: { [flag]: false } })).toBe('here');
    expect(place(name, { actor: 'user:ann', input: { [flag]: true } })).toBe('here');
  });
});

describe('[A2] a command inside of a run', () => {
  const env = { ...RUN, ...SOCKET };

  it.each([
    ['task.comment', {}, 'socket'],
    ['task.list', {}, 'socket'],
    ['mcp.serve', {}, 'socket'],
    ['token.create', {}, 'permission_denied'],
    ['settings.set', {}, 'permission_denied'],
    ['server.run', {}, 'permission_denied'],
    ['sync.export', {}, 'permission_denied'],
    ['run.start', {}, 'permission_denied'],
    ['project.doctor', { fix: true }, 'permission_denied'],
    ['project.doctor', {}, 'here'],
    ['agent.list', {}, 'here'],
    ['git.hook', {}, 'here'],
    ['git.merge', {}, 'here'],
    ['project.init', {}, 'here'],
  ])('%s %j: %s', (name, input, kind) => {
    expect(place(name, { env, input })).toBe(kind);
  });

  it('is done by the watcher alone, and reads only where the way there is missing', () => {
    expect(place('task.comment', { env, server: 'http://127.0.0.1:9' })).toBe('permission_denied');
    expect(place('task.comment', { env: RUN })).toBe('permission_denied');
    expect(place('task.list', { env: RUN })).toBe('here');
    expect(place('task.comment', { env: { FORGE_RUN_ID: 'x', FORGE_HOME: '/nowhere/other' } })).toBe(
      'permission_denied',
    );
  });

  it('of another home, where there is no project, is not meant', async () => {
    await using folder = await tempFolder();
    mkdirSync(join(folder.path, 'empty'));
    const other = { ...env, FORGE_HOME: join(folder.path, 'home') };
    expect(place('task.comment', { env: other, cwd: join(folder.path, 'empty') })).toBe('here');
  });
});
