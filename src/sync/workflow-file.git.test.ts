import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { findRepository } from '#git/find-repository.ts';
import { LIMITS } from '#kernel/limits.ts';
import { tempRepo } from '../../tests/support/temp-repo.ts';
import { type ProjectPaths, toProjectPaths } from './project-paths.ts';
import {
  findCopyFault,
  findWorkflow,
  hasWorkflowFile,
  mendCopy,
  openWorkflowReader,
  readWorkflow,
  refreshSharedWorkflow,
  workflowDigest,
  writeWorkflow,
} from './workflow-file.ts';

/** A workflow that says by its initial state which one it is. */
function named(initial: string): string {
  const states = [
    { name: initial, kind: 'initial', next: ['doing'] },
    { name: 'doing', kind: 'active', next: ['done'] },
    { name: 'done', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ];
  return `${JSON.stringify({ states }, null, 2)}\n`;
}

async function project(): Promise<{ paths: ProjectPaths; own: string; shared: string } & AsyncDisposable> {
  const repo = await tempRepo();
  const paths = pathsAt(repo.path);
  mkdirSync(paths.forge_dir);
  mkdirSync(paths.store_dir);
  return {
    paths,
    own: join(paths.forge_dir, 'workflow.json'),
    shared: join(paths.store_dir, 'workflow.json'),
    [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose](),
  };
}

function pathsAt(folder: string): ProjectPaths {
  const repository = findRepository(folder);
  if (repository === undefined) throw new Error('no repository');
  return toProjectPaths(repository);
}

describe('readWorkflow', () => {
  it('[S167] without a file, and for an empty one or {}, is the default', async () => {
    await using at = await project();
    expect(readWorkflow(at.paths)).toBe(DEFAULT_RESOLVED);
    for (const text of ['', ' \n', '{}', '\uFEFF{ }\n']) {
      writeFileSync(at.own, text);
      expect(readWorkflow(at.paths)).toBe(DEFAULT_RESOLVED);
    }
  });

  it('takes the own file before the shared copy, and the copy before the default', async () => {
    await using at = await project();
    writeFileSync(at.shared, named('copied'));
    expect(readWorkflow(at.paths).initial).toBe('copied');
    expect(findWorkflow(at.paths)).toMatchObject({ source: 'shared', path: at.shared });
    writeFileSync(at.own, named('own'));
    expect(readWorkflow(at.paths).initial).toBe('own');
    expect(findWorkflow(at.paths)).toMatchObject({ source: 'file', path: at.own });
    writeFileSync(at.own, '{}');
    expect(readWorkflow(at.paths)).toBe(DEFAULT_RESOLVED);
  });

  it('serves a linked worktree and a branch without .forge', async () => {
    await using at = await project();
    writeWorkflow(at.paths, named('everywhere'));
    const git = (...args: string[]): void => {
      const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
      execFileSync('git', args, { cwd: at.paths.root, env, stdio: 'pipe' });
    };
    git('commit', '--quiet', '--allow-empty', '-m', 'first');
    git('worktree', 'add', '--quiet', join(at.paths.root, '..', 'linked'));
    const linked = pathsAt(join(at.paths.root, '..', 'linked'));
    expect(existsSync(linked.forge_dir)).toBe(false);
    expect(readWorkflow(linked).initial).toBe('everywhere');
    expect(writeWorkflow(linked, named('from-there'))).toMatchObject({ source: 'shared', changed: true });
    expect(existsSync(linked.forge_dir)).toBe(false);
    expect(readWorkflow(linked).initial).toBe('from-there');
  });

  it('names the first faults of a broken one, and the command for all of them', async () => {
    await using at = await project();
    writeFileSync(at.own, '{\n "states": [],\n "a\\u001b[31m": 1, "b": 2, "c": 3\n}');
    expect(() => readWorkflow(at.paths)).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        hint: 'forge workflow validate',
        message: expect.stringMatching(
          /^\S+\/\.forge\/workflow\.json is not a workflow: line 1: cancellation_state: is missing[^]*; line 2: states: is empty; line 3: [^]*; and 2 more$/,
        ),
      }),
    );
    expect(() => readWorkflow(at.paths)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('\u001b') }),
    );
  });

  it('does not read what is too large or no file', async () => {
    await using at = await project();
    writeFileSync(at.own, 'x'.repeat(LIMITS.workflow_bytes + 1));
    const refused = (why: string): unknown =>
      expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining(why) });
    expect(() => readWorkflow(at.paths)).toThrow(refused('is too large'));
    rmSync(at.own);
    mkdirSync(at.own);
    expect(() => readWorkflow(at.paths)).toThrow(refused('is not a regular file'));
    rmSync(at.own, { recursive: true });
    symlinkSync('/dev/zero', at.own); // reading it would never end
    expect(() => readWorkflow(at.paths)).toThrow(refused('is not a regular file'));
  });

  it('has another digest for another text', () => {
    expect(workflowDigest(named('a'))).not.toBe(workflowDigest(named('b')));
    expect(workflowDigest(named('a'))).toBe(workflowDigest(named('a')));
  });
});

function catchError(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

describe('openWorkflowReader', () => {
  it('[S168] checks a text once, and sees a change with the next call', async () => {
    await using at = await project();
    const check = openWorkflowReader();
    const read = () => check(findWorkflow(at.paths));
    expect(read()).toBe(DEFAULT_RESOLVED);
    writeFileSync(at.own, named('one'));
    const one = read();
    expect(one.initial).toBe('one');
    expect(read()).toBe(one);
    writeFileSync(at.own, named('two'));
    expect(read().initial).toBe('two');
    writeFileSync(at.own, 'broken');
    expect(read).toThrow('is not a workflow');
    expect(catchError(read)).toBe(catchError(read));
    writeFileSync(at.own, named('two'));
    expect(read().initial).toBe('two');
    rmSync(at.own);
    expect(read()).toBe(DEFAULT_RESOLVED);
  });
});

describe('writeWorkflow', () => {
  it('writes the file and the copy, byte for byte, and leaves nothing else', async () => {
    await using at = await project();
    const text = JSON.stringify(DEFAULT_WORKFLOW);
    expect(hasWorkflowFile(at.paths)).toBe(false);
    expect(writeWorkflow(at.paths, text)).toEqual({ source: 'file', path: at.own, changed: true });
    expect(hasWorkflowFile(at.paths)).toBe(true);
    expect(readFileSync(at.own, 'utf8')).toBe(text);
    expect(readFileSync(at.shared, 'utf8')).toBe(text);
    expect(readdirSync(at.paths.forge_dir)).toEqual(['workflow.json']);
    expect(writeWorkflow(at.paths, text)).toEqual({ source: 'file', path: at.own, changed: false });
  });

  it('brings a copy back that was lost, and replaces what cannot be read', async () => {
    await using at = await project();
    writeWorkflow(at.paths, named('one'));
    rmSync(at.shared);
    expect(writeWorkflow(at.paths, named('one')).changed).toBe(false);
    expect(readFileSync(at.shared, 'utf8')).toBe(named('one'));
    writeFileSync(at.own, 'x'.repeat(LIMITS.workflow_bytes + 1));
    expect(writeWorkflow(at.paths, '{}\n').changed).toBe(true);
    expect(readWorkflow(at.paths)).toBe(DEFAULT_RESOLVED);
  });

  it('replaces a link, and does not write through it', async () => {
    await using at = await project();
    const victim = join(at.paths.root, 'victim.txt');
    writeFileSync(victim, 'mine');
    symlinkSync(victim, at.own);
    writeWorkflow(at.paths, named('one'));
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    expect(readFileSync(at.own, 'utf8')).toBe(named('one'));
  });
});

describe('refreshSharedWorkflow', () => {
  it('copies what is here, and keeps what was where nothing is', async () => {
    await using at = await project();
    refreshSharedWorkflow(at.paths);
    expect(existsSync(at.shared)).toBe(false);
    writeFileSync(at.own, named('one'));
    refreshSharedWorkflow(at.paths);
    expect(readFileSync(at.shared, 'utf8')).toBe(named('one'));
    rmSync(at.own);
    refreshSharedWorkflow(at.paths);
    expect(readWorkflow(at.paths).initial).toBe('one');
  });

  it.each(['{"x":', 'null', '{"states":[]}', '[]', 'x'])(
    'keeps the last good one where the file is none: %s',
    async (text) => {
      await using here = await project();
      writeFileSync(here.own, text);
      refreshSharedWorkflow(here.paths);
      expect(existsSync(here.shared)).toBe(false);
      writeFileSync(here.own, named('good'));
      refreshSharedWorkflow(here.paths);
      writeFileSync(here.own, text);
      refreshSharedWorkflow(here.paths);
      expect(readFileSync(here.shared, 'utf8')).toBe(named('good'));
      rmSync(here.own);
      expect(readWorkflow(here.paths).initial).toBe('good');
    },
  );

  it('a copy that is no workflow is told with a command that mends it', async () => {
    await using here = await project();
    writeFileSync(here.shared, '{"x":');
    expect(() => readWorkflow(here.paths)).toThrow(
      expect.objectContaining({ code: 'invalid_input', hint: 'forge doctor --fix' }) as Error,
    );
    expect(findCopyFault(here.paths)).toContain(here.shared);
    expect(mendCopy(here.paths)).toBe(`${here.shared}.broken`);
    expect(readFileSync(`${here.shared}.broken`, 'utf8')).toBe('{"x":');
    expect(readWorkflow(here.paths)).toBe(DEFAULT_RESOLVED);
    expect(findCopyFault(here.paths)).toBeUndefined();
    // Where the working tree has one, that is the copy again.
    mkdirSync(here.shared);
    writeFileSync(here.own, named('own'));
    expect(findCopyFault(here.paths)).toContain(here.shared);
    expect(mendCopy(here.paths)).toBeUndefined();
    expect(readFileSync(here.shared, 'utf8')).toBe(named('own'));
  });

  it('leaves it to others to complain about a file that cannot be read', async () => {
    await using at = await project();
    mkdirSync(at.own);
    refreshSharedWorkflow(at.paths);
    expect(existsSync(at.shared)).toBe(false);
  });
});
