import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { findOwnRun, RUN_HOME, RUN_PROJECT } from './find-own-run.ts';

const MODULE = new URL('find-own-run.ts', import.meta.url).href;
const ASK = `const { findOwnRun } = await import(${JSON.stringify(MODULE)}); console.log(JSON.stringify(findOwnRun(process.env) ?? null));`;
const RUN = { [RUN_PROJECT]: '/repo/.git', [RUN_HOME]: '/home/.forge' };
const UNTOLD = { project: undefined, home: undefined };
const FOUND = { project: '/repo/.git', home: '/home/.forge' };

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
      ['/proc/50/environ', environ('/inner', '/inner')],
      ['/proc/200/environ', environ(FOUND.project, FOUND.home)],
      ['/proc/200/status', 'PPid:\t0\n'],
    ]);
    const next = (path: string): string => {
      const pid = Number(path.split('/')[2]);
      return path.endsWith('/status') ? `Name:\tsh\nPPid:\t${pid === process.ppid ? 2 : pid + 1}\n` : '';
    };
    expect(findOwnRun({}, (path) => files.get(path) ?? next(path))).toEqual(FOUND);
  });

  it.skipIf(process.platform !== 'linux').each([
    ['0::/user.slice/forge-0123456789abcdef0123\n', UNTOLD],
    ['0::/forge-0123456789abcdef0123/sub\n1:x:/\n', UNTOLD],
    ['0::/user.slice/forge-0123456789abcdef01234\n', undefined],
    ['0::/user.slice/forge.service\n', undefined],
  ])('is told by the control group where no ancestor is left: %j', (text, found) => {
    expect(findOwnRun({}, (path) => (path === '/proc/self/cgroup' ? text : ''))).toEqual(found);
  });

  it.skipIf(process.platform !== 'linux').each([
    ['an emptied environment', ['sh', '-c', 'env -i "$@"; exit', 'sh']],
    ['another run’s name', ['sh', '-c', `env ${RUN_PROJECT}=/other ${RUN_HOME}=/other "$@"; exit`, 'sh']],
    ['a session of its own', ['sh', '-c', 'env -i setsid -w "$@"; exit', 'sh']],
    ['two shells in between', ['sh', '-c', `env -i sh -c '"$@"; exit' sh "$@"; exit`, 'sh']],
  ])('is found by its ancestors, in spite of %s', (_, command) => {
    expect(ask(command, RUN)).toEqual(FOUND);
  });
});
