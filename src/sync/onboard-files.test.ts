import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, type ForgeError, isForgeError } from '#kernel/errors.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { NEW_FILE, ONBOARD_BLOCK } from './onboard-block.ts';
import { applyOnboarding, planOnboarding } from './onboard-files.ts';

describe('onboarding', () => {
  it('makes AGENTS.md and no CLAUDE.md, and takes it away again', async () => {
    await using place = await tempPlace();
    expect(place.onboard()).toEqual(['AGENTS.md: create']);
    expect(place.bytes('AGENTS.md').toString()).toBe(NEW_FILE);
    expect(place.onboard()).toEqual(['AGENTS.md: none']);
    expect(place.undo()).toEqual(['AGENTS.md: delete']);
    expect(readdirSync(place.root)).toEqual([]);
    expect(place.undo()).toEqual([]);
  });

  it('writes both where both are, and gives every byte back', async () => {
    await using place = await tempPlace();
    const agents = Buffer.from('\ufeff# Règles\r\n\r\nno final newline');
    const claude = Buffer.from([0x23, 0x20, 0xe9, 0xff, 0x0a]); // Latin-1, not UTF-8
    place.put('AGENTS.md', agents);
    place.put('CLAUDE.md', claude);
    expect(place.onboard()).toEqual(['AGENTS.md: add', 'CLAUDE.md: add']);
    expect(place.bytes('AGENTS.md').subarray(0, agents.length)).toEqual(agents);
    expect(place.bytes('AGENTS.md').toString()).toContain(ONBOARD_BLOCK.replaceAll('\n', '\r\n'));
    expect(place.bytes('CLAUDE.md').subarray(0, claude.length)).toEqual(claude);
    expect(place.undo()).toEqual(['AGENTS.md: remove', 'CLAUDE.md: remove']);
    expect(place.bytes('AGENTS.md')).toEqual(agents);
    expect(place.bytes('CLAUDE.md')).toEqual(claude);
  });

  it('gives an empty file back as an empty file', async () => {
    await using place = await tempPlace();
    place.put('AGENTS.md', '');
    place.onboard();
    expect(place.undo()).toEqual(['AGENTS.md: remove']);
    expect(place.bytes('AGENTS.md')).toHaveLength(0);
  });

  it('updates an old block in its place', async () => {
    await using place = await tempPlace();
    place.put('AGENTS.md', 'above\n<!-- forge:begin -->\nold\n<!-- forge:end -->\nbelow\n');
    expect(place.onboard()).toEqual(['AGENTS.md: update']);
    expect(place.bytes('AGENTS.md').toString()).toBe(`above\n${ONBOARD_BLOCK}\nbelow\n`);
  });

  it('keeps the mode, whatever the umask', async () => {
    await using place = await tempPlace();
    place.put('AGENTS.md', 'x\n');
    chmodSync(place.at('AGENTS.md'), 0o666);
    place.onboard();
    expect(statSync(place.at('AGENTS.md')).mode & 0o777).toBe(0o666);
    chmodSync(place.at('AGENTS.md'), 0o600);
    place.undo();
    expect(statSync(place.at('AGENTS.md')).mode & 0o777).toBe(0o600);
  });

  it('changes nothing by planning', async () => {
    await using place = await tempPlace();
    place.put('CLAUDE.md', 'x\n');
    planOnboarding(place.root, 'block');
    planOnboarding(place.root, 'no block');
    expect(readdirSync(place.root)).toEqual(['CLAUDE.md']);
    expect(place.bytes('CLAUDE.md').toString()).toBe('x\n');
  });
});

describe('links', () => {
  it.each([
    ['CLAUDE.md', 'AGENTS.md'],
    ['AGENTS.md', 'CLAUDE.md'],
  ])('%s to %s: one file, written once, still a link', async (link, target) => {
    await using place = await tempPlace();
    place.put(target, 'x\n');
    symlinkSync(target, place.at(link));
    expect(place.onboard()).toEqual(['AGENTS.md: add']);
    expect(place.bytes(target).toString()).toBe(`x\n\n${ONBOARD_BLOCK}\n`);
    expect(place.onboard()).toEqual(['AGENTS.md: none']);
    expect(place.undo()).toEqual(['AGENTS.md: remove']);
    expect(place.bytes(target).toString()).toBe('x\n');
    expect(lstatSync(place.at(link)).isSymbolicLink()).toBe(true);
  });

  it('a CLAUDE.md that waits for AGENTS.md gets it', async () => {
    await using place = await tempPlace();
    symlinkSync('AGENTS.md', place.at('CLAUDE.md'));
    expect(place.onboard()).toEqual(['AGENTS.md: create']);
    expect(place.bytes('CLAUDE.md').toString()).toBe(NEW_FILE);
    expect(place.undo()).toEqual(['AGENTS.md: delete']);
    expect(readdirSync(place.root)).toEqual(['CLAUDE.md']);
  });

  it('to another file of the repository: that file is written, and never removed', async () => {
    await using place = await tempPlace();
    mkdirSync(place.at('docs'));
    place.put('docs/agents.md', NEW_FILE);
    symlinkSync('docs/agents.md', place.at('AGENTS.md'));
    expect(place.undo()).toEqual(['AGENTS.md: remove']);
    expect(place.bytes('docs/agents.md')).toHaveLength(0);
    expect(place.onboard()).toEqual(['AGENTS.md: add']);
    expect(lstatSync(place.at('AGENTS.md')).isSymbolicLink()).toBe(true);
  });

  it('out of the repository, into .git or to nowhere: refused before anything is written', async () => {
    await using place = await tempPlace();
    await using other = await tempFolder();
    const outside = join(other.path, 'CLAUDE.md');
    writeFileSync(outside, 'mine\n');
    mkdirSync(place.at('.git'));
    place.put('.git/notes.md', 'x\n');
    for (const [target, said] of [
      [outside, 'outside of this repository'],
      ['.git/notes.md', 'outside of this repository'],
      ['nothing.md', 'leads nowhere: nothing.md'],
      ['CLAUDE.md', 'leads nowhere: CLAUDE.md'],
    ] as const) {
      symlinkSync(target, place.at('CLAUDE.md'));
      expectRefused(place.onboard, 'invalid_input', `CLAUDE.md is a link`);
      expectRefused(place.onboard, 'invalid_input', said);
      expect(place.undo(), 'nothing of ours is there').toEqual([]);
      rmSync(place.at('CLAUDE.md'));
    }
    expect(existsSync(place.at('AGENTS.md'))).toBe(false);
    expect(readFileSync(outside, 'utf8')).toBe('mine\n');
  });
});

describe('files that are refused', () => {
  it.each([
    ['UTF-16', Buffer.from('\ufeff# Rules\n', 'utf16le'), 'is not UTF-8 text but UTF-16'],
    ['UTF-16, big end first', Buffer.from('\ufeff# Rules\n', 'utf16le').swap16(), 'but UTF-16'],
    ['UTF-16 without a mark', Buffer.from('# Rules\n', 'utf16le'), 'is not UTF-8 text'],
    ['two blocks', Buffer.from(NEW_FILE + NEW_FILE), 'forge:begin on line 1'],
  ])('%s, and the other file stays as it was', async (_, bytes, said) => {
    await using place = await tempPlace();
    place.put('CLAUDE.md', bytes);
    expectRefused(place.onboard, 'invalid_input', said);
    expectRefused(place.undo, 'invalid_input', said);
    expect(place.bytes('CLAUDE.md')).toEqual(bytes);
    expect(readdirSync(place.root)).toEqual(['CLAUDE.md']);
  });

  it('a folder', async () => {
    await using place = await tempPlace();
    mkdirSync(place.at('AGENTS.md'));
    expectRefused(place.onboard, 'invalid_input', 'AGENTS.md is a folder');
  });

  it('a read-only one, unless there is nothing to write', async () => {
    await using place = await tempPlace();
    place.put('AGENTS.md', 'x\n');
    chmodSync(place.at('AGENTS.md'), 0o444);
    expectRefused(place.onboard, 'permission_denied', 'AGENTS.md is read-only');
    expect(place.bytes('AGENTS.md').toString()).toBe('x\n');
    expect(place.undo()).toEqual(['AGENTS.md: none']);
    place.put('CLAUDE.md', NEW_FILE);
    chmodSync(place.at('CLAUDE.md'), 0o444);
    chmodSync(place.at('AGENTS.md'), 0o644);
    expect(place.onboard()).toEqual(['AGENTS.md: add', 'CLAUDE.md: none']);
    expectRefused(place.undo, 'permission_denied', 'CLAUDE.md is read-only');
    expect(place.bytes('AGENTS.md').toString(), 'refused as a whole').toContain(ONBOARD_BLOCK);
  });

  it('one that somebody changed since the plan was made', async () => {
    await using place = await tempPlace();
    const create = planOnboarding(place.root, 'block');
    place.put('AGENTS.md', 'mine\n');
    expectRefused(() => applyOnboarding(create), 'version_conflict', 'AGENTS.md was changed');
    const add = planOnboarding(place.root, 'block');
    place.put('AGENTS.md', 'mine, again\n');
    expectRefused(() => applyOnboarding(add), 'version_conflict', 'AGENTS.md was changed');
    expect(place.bytes('AGENTS.md').toString()).toBe('mine, again\n');
    expect(readdirSync(place.root)).toEqual(['AGENTS.md']);
  });
});

async function tempPlace() {
  const folder = await tempFolder();
  const at = (name: string): string => join(folder.path, name);
  const carryOut = (wanted: 'block' | 'no block'): string[] => {
    const steps = planOnboarding(folder.path, wanted);
    applyOnboarding(steps);
    return steps.map(({ path, change }) => `${path}: ${change}`);
  };
  return {
    root: folder.path,
    at,
    put: (name: string, content: string | Buffer): void => writeFileSync(at(name), content),
    bytes: (name: string): Buffer => readFileSync(at(name)),
    onboard: () => carryOut('block'),
    undo: () => carryOut('no block'),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

function expectRefused(work: () => unknown, code: ErrorCode, said: string): void {
  const error = errorOf(work);
  expect([error.code, error.message]).toEqual([code, expect.stringContaining(said)]);
  expect(error.hint, 'says what to do').toBeTruthy();
}

function errorOf(work: () => unknown): ForgeError {
  try {
    work();
  } catch (error) {
    if (isForgeError(error)) return error;
    throw error;
  }
  throw new Error('not refused');
}
