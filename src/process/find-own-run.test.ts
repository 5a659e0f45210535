import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { findOwnRun, RUN_HOME, RUN_PROJECT } from './find-own-run.ts';

const MODULE = new URL('find-own-run.ts', import.meta.url).href;
const ASK = `const { findOwnRun } = await import(${JSON.stringify(MODULE)}); console.log(JSON.stringify(findOwnRun(process.env) ?? null));`;
const RUN = { [RUN_PROJECT]: '/repo/.git', [RUN_HOME]: '/home/.forge' };
const UNTOLD = { project: undefined, home: undefined };
const UNREAD = { ...UNTOLD, is_unread: true };
const FOUND = { project: '/repo/.git', home: '/home/.forge' };

/** As JSON has it. */
const UNREAD_TEXT = { is_unread: true };

const canUnshare =
  process.platform === 'linux' &&
  spawnSync('unshare', ['-Urm', 'sh', '-c', 'mount -t tmpfs x /proc']).status === 0;

/** What a program finds that is started by `command`, with the marks of a run around all of it. */
function ask(command: readonly string[], env: Readonly<Record<string, string>>): unknown {
  const [program, ...args] = [...command, process.execPath, '--input-type=module', '--eval', ASK];
  const base = { PATH: process.env['PATH'] ?? '' };
  return JSON.parse(execFileSync(program, args, { env: { ...base, ...env }, encoding: 'utf8' })) as unknown;
}

describe('[A2] the run that a process belongs to', () => {
  it('is none outside', () => {
    expect(findOwnRun({})).toBeUndefined();
    expect(ask(['env'], {})).toBeNull();
    // Half of it is nobody's.
    expect(findOwnRun({ [RUN_HOME]: '/home/.forge' })).toBeUndefined();
  });

  it('stands in its environment', () => {
    expect(findOwnRun(RUN)).toEqual(FOUND);
  });

  it.each(['FORGE_RUN_ID', 'FORGE_ATTEMPT_ID'])(
    'is one that cannot be told where only %s names it',
    (name) => {
      expect(findOwnRun({ [name]: 'x' })).toEqual(UNTOLD);
      expect(findOwnRun({ [name]: '' })).toBeUndefined();
    },
  );

  it.skipIf(process.platform !== 'linux')('is found far up, and outermost of several', () => {
    const environ = (path: string, folder: string): string =>
      `A=b\0${RUN_PROJECT}=${path}\0${RUN_HOME}=${folder}\0`;
    const files = new Map([
      ['/proc/self/status', 'PPid:\t2\n'],
      ['/proc/50/environ', environ('/inner', '/inner')],
      ['/proc/200/environ', environ(FOUND.project, FOUND.home)],
      ['/proc/200/status', 'PPid:\t0\n'],
    ]);
    const next = (path: string): string => {
      const pid = Number(path.split('/')[2]);
      return path.endsWith('/status') ? `Name:\tsh\nPPid:\t${pid + 1}\n` : '';
    };
    const read = (path: string): string => files.get(path) ?? next(path);
    expect(findOwnRun({}, { read, isReal: () => true })).toEqual(FOUND);
  });

  it.skipIf(process.platform !== 'linux').each([
    ['0::/user.slice/forge-0123456789abcdef0123\n', UNTOLD],
    ['0::/forge-0123456789abcdef0123/sub\n1:x:/\n', UNTOLD],
    ['0::/user.slice/forge-0123456789abcdef01234\n', undefined],
    ['0::/user.slice/forge.service\n', undefined],
  ])('is told by the control group where no ancestor is left: %j', (text, found) => {
    const files = new Map([
      ['/proc/self/status', 'PPid:\t0\n'],
      ['/proc/self/cgroup', text],
    ]);
    expect(findOwnRun({}, { read: (path) => files.get(path) ?? '', isReal: () => true })).toEqual(found);
  });

  it.skipIf(process.platform !== 'linux').each([
    ['an emptied environment', ['sh', '-c', 'env -i "$@"; exit', 'sh']],
    ['another run’s name', ['sh', '-c', `env ${RUN_PROJECT}=/other ${RUN_HOME}=/other "$@"; exit`, 'sh']],
    ['a session of its own', ['sh', '-c', 'env -i setsid -w "$@"; exit', 'sh']],
    ['two shells in between', ['sh', '-c', `env -i sh -c '"$@"; exit' sh "$@"; exit`, 'sh']],
  ])('is found by its ancestors, in spite of %s', (_, command) => {
    expect(ask(command, RUN)).toEqual(FOUND);
  });

  /** How a mount looks in /proc/self/mountinfo. */
  const toMount = (place: string): string => `36 25 0:32 / ${place} rw,nosuid shared:5 - tmpfs x rw\n`;

  it.skipIf(process.platform !== 'linux').each([
    ['all that is usual', 'PPid:\t0\n', true, toMount('/proc'), undefined],
    // The parent is another user's (hidepid=2), or lies outside of the container.
    ['a parent that is not seen', 'PPid:\t77\n', true, '', undefined],
    [
      'what containers cover',
      'PPid:\t0\n',
      true,
      ['/proc/sys', '/proc/kcore', '/proc/self-made', '/srv/proc/1'].map(toMount).join(''),
      undefined,
    ],
    ['no process of its own', '', true, '', UNREAD],
    ['no file system of the kernel’s', 'PPid:\t0\n', false, '', UNREAD],
    ['a covered process', 'PPid:\t0\n', true, toMount('/proc/77'), UNREAD],
    ['a covered file of a process', 'PPid:\t0\n', true, toMount('/proc/77/environ'), UNREAD],
  ])('[S2-F9] cannot be told without the table of processes: %s', (_, status, isReal, mounts, found) => {
    const files = new Map([
      ['/proc/self/status', status],
      ['/proc/self/mountinfo', mounts],
    ]);
    const table = { read: (path: string) => files.get(path) ?? '', isReal: () => isReal };
    expect(findOwnRun({}, table)).toEqual(found);
    expect(findOwnRun(RUN, table)).toEqual(FOUND);
  });

  it.skipIf(!canUnshare).each([
    ['with nothing at /proc', 'mount -t tmpfs x /proc', UNREAD_TEXT],
    ['with its parent covered', 'mount -t tmpfs x /proc/$$', UNREAD_TEXT],
  ])('[S2-F9] cannot be told in a namespace %s', (_, mount, found) => {
    const command = ['unshare', '-Urm', 'sh', '-c', `${mount}; env -i "$@"; exit`, 'sh'];
    expect(ask(command, RUN)).toEqual(found);
  });

  it.skipIf(!canUnshare)('[S2-F9] is found with numbers of a namespace of its own', () => {
    expect(ask(['unshare', '-Urpf', 'sh', '-c', 'env -i "$@"; exit', 'sh'], RUN)).toEqual(FOUND);
  });
});
