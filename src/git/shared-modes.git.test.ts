import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder, testGitEnv } from '../../tests/support/temp-repo.ts';
import { readSharedModes } from './shared-modes.ts';

/** As `git init --shared` takes them, and as older versions of git wrote them. */
const VALUES = ['umask', 'group', 'all', 'world', 'everybody', 'true', 'false', '0660', '0640', '0664', '1'];

describe.runIf(process.platform !== 'win32')('what others may do with what Forge keeps', () => {
  it.each(VALUES)('[H4] is what git lets them where core.sharedRepository is %s', async (value) => {
    await using folder = await tempFolder();
    // With a umask that gives nobody anything, all that others may do is what git adds.
    const script = `umask 077 && git init -q . && git config core.sharedRepository ${value} && git init -q . && git symbolic-ref HEAD refs/heads/other`;
    execFileSync('sh', ['-c', script], { cwd: folder.path, env: testGitEnv() });
    const git = join(folder.path, '.git');
    const modes = readSharedModes(git);
    expect(modes.file.toString(8)).toBe((statSync(join(git, 'HEAD')).mode & 0o7777).toString(8));
    expect(modes.folder.toString(8)).toBe((statSync(join(git, 'refs')).mode & 0o7777).toString(8));
  });

  it('is nothing where git says nothing, or there is no repository', async () => {
    await using folder = await tempFolder();
    expect(readSharedModes(folder.path)).toEqual({ file: 0o600, folder: 0o700 });
  });
});
