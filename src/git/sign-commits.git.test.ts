import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AttemptPlace, attemptPlace, openAttempts } from '../../tests/support/attempt-places.ts';
import { gitPlace } from '../../tests/support/git-places.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import { createSigner } from './sign-commits.ts';

const hasGpg = spawnSync('gpg', ['--version']).status === 0;
const hasSsh = spawnSync('ssh-keygen', ['-?']).error === undefined;

const commitOf = ({ place }: AttemptPlace) => ({
  tree: place.git('rev-parse', 'HEAD^{tree}'),
  parents: [place.git('rev-parse', 'HEAD')],
  message: 'By the host',
});

function writeProgram(world: AttemptPlace, lines: string): string {
  const program = join(world.place.path, '..', 'signing-program');
  writeFileSync(program, `#!/bin/sh\n${lines}\n`);
  chmodSync(program, 0o755);
  world.place.git('config', 'gpg.program', program);
  return program;
}

describe('createSigner', () => {
  it('[A15] ends a program that never answers, with all that it started, and asks it once', async () => {
    await using world = await attemptPlace();
    const asked = join(world.place.path, '..', 'asked');
    const program = writeProgram(world, `echo asked >> '${asked}'\nsleep 601 & wait`);
    const signer = createSigner(world.control, { sign: true, timeout_ms: 500 });
    const commit = await signer.write(commitOf(world));
    expect(signer.unsigned).toBe(
      'git could not sign the commit: nothing came within 0.5 s; it may wait for a passphrase',
    );
    await signer.write({ ...commitOf(world), parents: [commit] });
    expect(execFileSync('cat', [asked], { encoding: 'utf8' })).toBe('asked\n');
    expect(spawnSync('pgrep', ['-f', program]).status).toBe(1);
    expect(spawnSync('pgrep', ['-f', 'sleep 601']).status).toBe(1);
  });

  it('[A15] gives the program no terminal and no window to ask on', async () => {
    await using world = await attemptPlace();
    const seen = join(world.place.path, '..', 'seen');
    writeProgram(
      world,
      `{ env; [ -t 0 ] && echo terminal=0; (exec < /dev/tty) 2>/dev/null && echo terminal=tty; } > '${seen}'; exit 1`,
    );
    const env = { ...world.place.repo.env, GPG_TTY: '/dev/pts/1', DISPLAY: ':0', SSH_ASKPASS: '/bin/false' };
    const repository = { ...world.control.repository, env };
    const signer = createSigner({ ...world.control, repository }, { sign: true });
    await signer.write(commitOf(world));
    expect(signer.unsigned).toContain('could not sign');
    const text = execFileSync('cat', [seen], { encoding: 'utf8' });
    expect(text).not.toMatch(/^(?:GPG_TTY|DISPLAY|SSH_ASKPASS|terminal)=/m);
  });

  it('[A15] writes no signature where none is wanted', async () => {
    await using world = await attemptPlace();
    writeProgram(world, 'exit 1');
    const signer = createSigner(world.control, { sign: false });
    const commit = await signer.write(commitOf(world));
    expect(signer.unsigned).toBeUndefined();
    expect(world.place.git('cat-file', '-p', commit)).not.toContain('gpgsig');
  });

  const ssh = { 'gpg.format': 'ssh', 'user.signingKey': '/nonexistent.pub' };
  it.each<{ readonly what: string; readonly settings: Readonly<Record<string, string>> }>([
    { what: 'a public key for ssh that is not there', settings: ssh },
    {
      what: 'a key for ssh that is none',
      settings: { ...ssh, 'user.signingKey': 'key::ssh-ed25519 AAAAwrong' },
    },
    { what: 'no key for ssh, and no way to find one', settings: { 'gpg.format': 'ssh' } },
    {
      what: 'a command for the key of ssh that fails',
      settings: { 'gpg.format': 'ssh', 'gpg.ssh.defaultKeyCommand': 'false' },
    },
    {
      what: 'a program for ssh that is not there',
      settings: {
        ...ssh,
        'user.signingKey': 'key::ssh-ed25519 AAAA',
        'gpg.ssh.program': '/nonexistent/program',
      },
    },
    { what: 'a program of openpgp that is not there', settings: { 'gpg.program': '/nonexistent/program' } },
    {
      what: 'a program for x509 that is not there',
      settings: { 'gpg.format': 'x509', 'gpg.x509.program': '/nonexistent/program' },
    },
    { what: 'a program that says nothing of signatures', settings: { 'gpg.program': 'false' } },
    { what: 'a format that git does not know', settings: { 'gpg.format': 'wax' } },
  ])('[B16] makes an unsigned commit, and says why, with $what', async ({ settings }) => {
    await using world = await attemptPlace();
    for (const [key, value] of Object.entries(settings)) world.place.git('config', key, value);
    const signer = createSigner(world.control, { sign: true });
    const commit = await signer.write(commitOf(world));
    expect(signer.unsigned).toMatch(/^git (?:could not sign the commit|commit-tree failed): ./);
    if (settings['gpg.format'] !== undefined) world.place.git('config', '--unset', 'gpg.format');
    expect(world.place.git('cat-file', '-p', commit)).not.toContain('gpgsig');
  });

  it.skipIf(!hasSsh)(
    '[B16] signs with a key of ssh, also where the file of allowed signers is missing',
    async () => {
      await using world = await attemptPlace();
      const key = join(world.place.path, '..', 'key');
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
      for (const [name, value] of Object.entries({ ...ssh, 'user.signingKey': `${key}.pub` }))
        world.place.git('config', name, value);
      world.place.git('config', 'gpg.ssh.allowedSignersFile', '/nonexistent');
      const signer = createSigner(world.control, { sign: true });
      const commit = await signer.write(commitOf(world));
      expect(signer.unsigned).toBeUndefined();
      expect(world.place.git('cat-file', '-p', commit)).toContain('SSH SIGNATURE');
    },
  );

  it('[B16] throws what is wrong with the commit itself', async () => {
    await using world = await attemptPlace();
    const signer = createSigner(world.control, { sign: true });
    const commit = { ...commitOf(world), tree: '0'.repeat(40) };
    await expect(signer.write(commit)).rejects.toThrow('git commit-tree failed');
    expect(signer.unsigned).toBeUndefined();
  });

  it.skipIf(!hasGpg)('[A15] signs with gpg and the key that its agent holds', async () => {
    await using place = await gitPlace();
    const home = join(place.path, '..', 'gnupg');
    mkdirSync(home, { mode: 0o700 });
    const env = { ...place.repo.env, GNUPGHOME: home };
    const gpg = (...args: string[]) =>
      execFileSync('gpg', ['--batch', '--quiet', ...args], {
        env: { ...process.env, ...env },
        stdio: 'pipe',
      });
    try {
      gpg('--pinentry-mode', 'loopback', '--passphrase', '', '--quick-gen-key', 'test@example.com');
      place.git('config', 'user.signingKey', 'test@example.com');
      place.git('config', 'commit.gpgSign', 'true');
      const world = await openAttempts({ ...place, repo: { ...place.repo, env } });
      expect(world.control.signs).toBe(true);
      const signer = createSigner(world.control, { sign: true });
      const commit = await signer.write(commitOf(world));
      expect(signer.unsigned).toBeUndefined();
      runTestGit(place.path, ['verify-commit', commit], { GNUPGHOME: home });
    } finally {
      spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
    }
  });
});
