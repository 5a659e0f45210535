import { chmodSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPlace } from '../support/forge-cli.ts';
import {
  expectSettled,
  forgeClones,
  hasFile,
  settle,
  titlesIn,
  toClone,
  type Clone,
} from '../support/git-clones.ts';
import { tempRepo } from '../support/temp-repo.ts';

const MODES = { standard: [], stealth: ['--stealth'], branch: ['--branch', 'forge-data'] } as const;

/** What may be there before Forge comes: nothing at all, or files of the user in every place that Forge writes to. */
const BEFORE: Record<string, (clone: Clone) => void> = {
  'nothing of its own': () => undefined,
  'files in every place': (clone) => {
    clone.write('.gitignore', 'node_modules\n*.log');
    clone.write('.gitattributes', '*.png binary\r\n*.txt text\r\n');
    clone.write('.git/info/exclude', '# mine\n.idea');
    clone.write('.git/info/attributes', '*.bin binary\n');
    clone.write('AGENTS.md', '# Rules\n\nBe kind.\n');
    clone.write('CLAUDE.md', 'See AGENTS.md');
    for (const hook of ['pre-commit', 'post-merge', 'commit-msg']) {
      clone.write(`.git/hooks/${hook}`, `#!/bin/sh\n# mine\nexit 0\n`);
      chmodSync(join(clone.path, '.git/hooks', hook), 0o755);
    }
    clone.git('config', 'merge.mine.driver', 'true');
  },
  'no template': (clone) => {
    for (const name of ['hooks', 'info', 'description']) {
      rmSync(join(clone.path, '.git', name), { recursive: true, force: true });
    }
  },
};

describe('forge uninstall leaves the repository as it was found', () => {
  for (const mode of Object.keys(MODES) as (keyof typeof MODES)[]) {
    for (const [what, prepare] of Object.entries(BEFORE)) {
      it(`${mode}, with ${what}`, async () => {
        await using repo = await tempRepo();
        const place = await openPlace(repo);
        const clone = toClone(repo.path, place);
        clone.write('readme.txt', 'readme\n');
        prepare(clone);
        clone.git('add', '.');
        clone.git('commit', '--quiet', '-m', 'first', '--no-verify');
        clone.git('status');
        const before = snapshot(clone);
        await clone.json('init', ...MODES[mode]);
        await clone.create('kept');
        if (what === 'files in every place') await clone.json('onboard');
        expect(snapshot(clone)).not.toEqual(before);
        // Without --yes it only says what it would do.
        const planned = snapshot(clone);
        expect(await clone.json('uninstall')).toMatchObject({ done: false, backup: null });
        expect(snapshot(clone)).toEqual(planned);
        const { backup } = await clone.json<{ backup: string }>('uninstall', '--yes');
        expect(titlesIn(readFileSync(backup, 'utf8'))).toEqual(['kept']);
        expect(statSync(backup).mode & 0o777).toBe(0o600);
        // The branch holds tasks, so it is the user's to remove.
        if (mode === 'branch') clone.git('branch', '--quiet', '-D', 'forge-data');
        expect(snapshot(clone)).toEqual(before);
        expect((await clone.fails('ready')).error.code).toBe('not_a_project');
        expect(clone.commitFile('after.txt')).not.toContain('forge');
        // And back: the copy brings everything.
        if (what !== 'nothing of its own') return;
        await clone.json('init');
        expect(await clone.json('import', backup)).toMatchObject({ created: 1 });
      });
    }
  }

  it('what was committed shows as deleted, and is the user’s to commit; a clone can take it back', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    await a.create('one');
    a.commitFile('a.txt');
    a.git('push', '--quiet');
    const { notes } = await a.json<{ notes: string[] }>('uninstall', '--yes');
    expect(notes.join(' ')).toContain('commit their removal');
    expect(a.git('status', '--porcelain').split('\n')).toEqual([
      ' D .forge/config.json',
      ' D .forge/history.jsonl',
      ' D .forge/hooks/post-merge',
      ' D .forge/hooks/pre-commit',
      ' D .forge/tasks.jsonl',
      ' D .gitattributes',
      ' D .gitignore',
    ]);
    expect(hasFile(a, '.git/forge')).toBe(false);
    a.git('restore', '.');
    expect(await a.json('init')).toMatchObject({ adopted: true });
    await a.run('ready');
    await b.create('two');
    await settle(world.all);
    await expectSettled(world.all, { titles: ['one', 'two'], files: { 'a.txt': 'a.txt\n' } });
  });
});

describe('forge init in a clone', () => {
  it('[S73] adopts what is there, and is refused the second time', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await a.create('one');
    a.commitFile('a.txt');
    a.git('push', '--quiet');
    const b = await world.addClone('b', { init: false });
    expect((await b.fails('init', '--prefix', 'zz')).error.code).toBe('already_exists');
    expect((await b.fails('init', '--stealth')).error.code).toBe('already_exists');
    expect(await b.json('init')).toMatchObject({ adopted: true, idPrefix: 'fg', mode: 'standard' });
    expect(b.git('status', '--porcelain')).toBe('');
    expect((await b.run('ready')).stdout).toContain('one');
    const before = snapshot(b);
    expect((await b.fails('init')).error.code).toBe('already_exists');
    expect(snapshot(b)).toEqual(before);
    // What this clone lost of its own part, another init brings back.
    rmSync(join(b.path, '.git/hooks/pre-commit'));
    expect(await b.json('init')).toMatchObject({ adopted: true });
    expect(snapshot(b)).toEqual(before);
  });
});

/** Every file, folder and link with rights and content, but for what git itself writes down about its commands. */
function snapshot(clone: Clone): Record<string, string> {
  const found: Record<string, string> = { index: clone.git('ls-files', '--stage') };
  for (const entry of readdirSync(clone.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(clone.path.length + 1);
    if (/^\.git\/(objects|index$|packed-refs$|logs$|logs\/|forge\/)/.test(name)) continue;
    const mode = (lstatSync(path).mode & 0o7777).toString(8);
    found[name] = entry.isFile() ? `${mode} ${readFileSync(path, 'latin1')}` : mode;
  }
  return found;
}
