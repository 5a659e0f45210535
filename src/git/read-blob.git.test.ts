import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GIT_PLACES, gitPlace } from '../../tests/support/git-places.ts';
import { type FileVersion, listVersions, openBlobReader, readBlob, resolveRev } from './read-blob.ts';

async function collect(versions: AsyncIterable<FileVersion>): Promise<FileVersion[]> {
  const all: FileVersion[] = [];
  for await (const version of versions) all.push(version);
  return all;
}

describe.each(GIT_PLACES)('in a repository of the shape "%s"', (shape) => {
  it('reads a file of a commit', async () => {
    await using place = await gitPlace(shape);
    expect((await readBlob(place.repo, 'HEAD', 'a.txt'))?.toString()).toBe('a\n');
    expect(await readBlob(place.repo, 'HEAD', 'b.txt')).toBeUndefined();
    expect(await readBlob(place.repo, 'nowhere', 'a.txt')).toBeUndefined();
    expect(await resolveRev(place.repo, 'HEAD')).toBe(place.git('rev-parse', 'HEAD'));
    expect(await collect(listVersions(place.repo, 'a.txt'))).toHaveLength(1);
  });
});

describe('readBlob', () => {
  it('gives the stored bytes, any bytes, and of large files', async () => {
    await using place = await gitPlace();
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => at % 256));
    await writeFile(join(place.path, 'big file.bin'), bytes);
    await writeFile(join(place.path, 'empty'), '');
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'bytes');
    expect((await readBlob(place.repo, 'HEAD', 'big file.bin'))?.equals(bytes)).toBe(true);
    expect(await readBlob(place.repo, 'HEAD', 'empty')).toEqual(Buffer.alloc(0));
  });

  it.each(['-x', '--help', 'a\nb', 'é', "it's", '*', ':a', 'HEAD:b', 'x y'])(
    'reads a file called %j',
    async (name) => {
      await using place = await gitPlace();
      await place.write(`dir/${name}`, 'odd\n');
      place.git('add', '.');
      place.git('commit', '--quiet', '-m', 'odd');
      expect((await readBlob(place.repo, 'HEAD', `dir/${name}`))?.toString()).toBe('odd\n');
      expect(await collect(listVersions(place.repo, `dir/${name}`))).toHaveLength(1);
      expect(await collect(listVersions(place.repo, `dir/${name}.not`))).toEqual([]);
    },
  );

  it.each(['-x', '--all', '--help', 'a..b', '@{', 'a\0b', '\u3000', '0'.repeat(40), '$(id)'])(
    '[E7] [E8] takes %j for a revision that is not there',
    async (rev) => {
      await using place = await gitPlace();
      expect(await resolveRev(place.repo, rev)).toBeUndefined();
      expect(await readBlob(place.repo, rev, 'a.txt')).toBeUndefined();
    },
  );

  it('[E7] is not misled by a ref whose name looks like an option', async () => {
    await using place = await gitPlace();
    const head = place.git('rev-parse', 'HEAD');
    place.git('update-ref', 'refs/heads/--all', head);
    expect(await resolveRev(place.repo, 'refs/heads/--all')).toBe(head);
  });

  it('gives nothing for a folder or a submodule', async () => {
    await using place = await gitPlace();
    await place.write('dir/b.txt', 'b\n');
    place.git('add', '.');
    place.git('update-index', '--add', '--cacheinfo', `160000,${place.git('rev-parse', 'HEAD')},part`);
    place.git('commit', '--quiet', '-m', 'more');
    expect(await readBlob(place.repo, 'HEAD', 'dir')).toBeUndefined();
    expect(await readBlob(place.repo, 'HEAD', 'part')).toBeUndefined();
  });

  it('does not take a lost object for a removed file', async () => {
    await using place = await gitPlace();
    const oid = place.git('rev-parse', 'HEAD:a.txt');
    await rm(join(place.path, '.git', 'objects', oid.slice(0, 2), oid.slice(2)));
    await expect(readBlob(place.repo, 'HEAD', 'a.txt')).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringContaining('a.txt'),
    });
  });

  it('knows no commit where there is none yet', async () => {
    await using place = await gitPlace('without commits');
    expect(await resolveRev(place.repo, 'HEAD')).toBeUndefined();
    expect(await readBlob(place.repo, 'HEAD', 'a.txt')).toBeUndefined();
    expect(await collect(listVersions(place.repo, 'a.txt'))).toEqual([]);
    expect(await collect(listVersions(place.repo, 'a.txt', { from: 'every ref' }))).toEqual([]);
  });

  it('says that it was asked outside of a repository', async () => {
    await using place = await gitPlace();
    await rm(join(place.path, '.git', 'HEAD'));
    await expect(resolveRev(place.repo, 'HEAD')).rejects.toMatchObject({ code: 'io_failed' });
  });
});

describe('openBlobReader', () => {
  it('reads many files through one process, large, empty and missing ones in any order', async () => {
    await using place = await gitPlace();
    const large = Buffer.alloc(5_000_000, 'line\n');
    await writeFile(join(place.path, 'large'), large);
    await writeFile(join(place.path, 'empty'), '');
    await place.write('dir/x', 'x\n');
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'more');
    await using reader = openBlobReader(place.repo);
    for (let round = 0; round < 3; round += 1) {
      expect((await reader.read('HEAD', 'large'))?.equals(large)).toBe(true);
      expect(await reader.read('HEAD', 'nowhere')).toBeUndefined();
      expect(await reader.read('HEAD', 'empty')).toEqual(Buffer.alloc(0));
      expect(await reader.read('HEAD', 'dir')).toBeUndefined();
      expect((await reader.read('HEAD~1', 'a.txt'))?.toString()).toBe('a\n');
      expect(await reader.read('HEAD~1', 'large')).toBeUndefined();
      expect(await reader.read('HEAD\nHEAD', 'a.txt')).toBeUndefined();
    }
  });

  it('says why when git cannot answer', async () => {
    await using place = await gitPlace();
    await rm(join(place.path, '.git', 'HEAD'));
    await using reader = openBlobReader(place.repo);
    await expect(reader.read('HEAD', 'a.txt')).rejects.toMatchObject({ code: 'io_failed' });
    const nowhere = { ...place.repo, env: { PATH: join(place.path, 'nowhere') } };
    await using other = openBlobReader(nowhere);
    await expect(other.read('HEAD', 'a.txt')).rejects.toMatchObject({ code: 'dependency_missing' });
  });
});

describe('listVersions', () => {
  it('lists the commits that changed the path, newest first, with who and why', async () => {
    await using place = await gitPlace();
    for (const text of ['one', 'two']) {
      await place.write('tasks', text);
      await place.write(`other-${text}`, text);
      place.git('add', 'tasks');
      place.git(
        'commit',
        '--quiet',
        '--author',
        'Zoë <z@x.org>',
        '--date',
        '2026-02-03T04:05:06+02:00',
        '-m',
        `${text}: “x”\n\nbody`,
      );
      place.git('add', '.');
      place.git('commit', '--quiet', '-m', 'not it');
    }
    const versions = await collect(listVersions(place.repo, 'tasks'));
    expect(versions.map(({ subject }) => subject)).toEqual(['two: “x”', 'one: “x”']);
    expect(versions[0]).toEqual({
      commit: place.git('rev-parse', 'HEAD~1'),
      parents: [place.git('rev-parse', 'HEAD~2')],
      author: 'Zoë',
      author_email: 'z@x.org',
      date: '2026-02-03T04:05:06+02:00',
      subject: 'two: “x”',
    });
  });

  it('has removals, merged side branches, and on demand every branch', async () => {
    await using place = await gitPlace();
    const commit = async (text: string) => {
      await place.write('tasks', text);
      place.git('add', '.');
      place.git('commit', '--quiet', '-m', text);
    };
    await commit('root');
    place.git('checkout', '--quiet', '-b', 'side');
    await commit('side');
    place.git('checkout', '--quiet', 'main');
    await commit('main');
    place.git('merge', '--quiet', '-s', 'ours', '-m', 'merge', 'side');
    place.git('rm', '--quiet', 'tasks');
    place.git('commit', '--quiet', '-m', 'removed');
    place.git('checkout', '--quiet', '-b', 'unmerged', 'HEAD~1');
    await commit('unmerged');
    place.git('checkout', '--quiet', 'main');
    const subjects = async (options = {}) =>
      (await collect(listVersions(place.repo, 'tasks', options))).map(({ subject }) => subject).sort();
    expect(await subjects()).toEqual(['main', 'merge', 'removed', 'root', 'side']);
    expect(await subjects({ from: 'every ref' })).toEqual([
      'main',
      'merge',
      'removed',
      'root',
      'side',
      'unmerged',
    ]);
    expect(await subjects({ from: ['side', 'nowhere'] })).toEqual(['root', 'side']);
  });

  it('can be left early', async () => {
    await using place = await gitPlace();
    for (const text of ['1', '2', '3']) {
      await place.write('tasks', text);
      place.git('add', '.');
      place.git('commit', '--quiet', '-m', text);
    }
    let first: string | undefined;
    for await (const version of listVersions(place.repo, 'tasks')) {
      first = version.subject;
      break;
    }
    expect(first).toBe('3');
  });

  it('ends with an error when git fails in the middle', async () => {
    await using place = await gitPlace();
    await place.write('tasks', 'x');
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'x');
    const first = place.git('rev-parse', 'HEAD~1');
    await rm(join(place.path, '.git', 'objects', first.slice(0, 2), first.slice(2)));
    await expect(collect(listVersions(place.repo, 'tasks'))).rejects.toMatchObject({ code: 'io_failed' });
  });
});
