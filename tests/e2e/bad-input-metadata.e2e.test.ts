import { describe, expect, test } from 'vitest';
import type { Task } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
import { type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { bringTasks, expectRefused, type Refusal } from '../support/store-snapshot.ts';

const ID = 'fg-meta';

describe('nesting', () => {
  test('64 levels are kept and read back', async () => {
    await using project = await projectOfOne();
    const lists: unknown = JSON.parse(nested(64));
    const objects: unknown = JSON.parse(`${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`);
    await project.json('task', 'update', ID, '--meta-set', `l=${JSON.stringify(lists)}`);
    await project.json('task', 'update', ID, '--meta-set', `o=${JSON.stringify(objects)}`);
    expect((await project.show(ID)).metadata).toEqual({ l: lists, o: objects });
  });

  test('65 levels are refused with both numbers', async () => {
    await using project = await projectOfOne();
    await expectRefused(project, [
      metaSet(`k=${nested(65)}`, /^Metadata "k" is nested 65 levels deep; the limit is 64$/),
      metaSet(`k=${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`, 'nested 65 levels deep'),
      {
        ...metaSet('', 'nested 65 levels deep'),
        args: ['task', 'create', 'x', '--meta-set', `k=${nested(65)}`],
      },
    ]);
  });

  test('depths that no stack holds are refused, whether or not they are closed', async () => {
    await using project = await projectOfOne();
    // One argument holds 128 KiB: 60,000 levels with their ends, 100,000 without.
    await expectRefused(project, [
      metaSet(`k=${nested(60_000)}`, /--meta-set k|Metadata "k"/),
      metaSet(`k=${'['.repeat(100_000)}`, /--meta-set k is nested too deep/),
      metaSet(`k=${'{"a":'.repeat(25_000)}`, /--meta-set k is nested too deep/),
    ]);
  });

  test('a depth that no stack holds is called too deep, not bad JSON', async () => {
    await using project = await projectOfOne();
    await expectRefused(project, [metaSet(`k=${nested(60_000)}`, /nested|deep/)]);
  });
});

describe('keys and values', () => {
  test('words that mean something to JavaScript are only words', async () => {
    await using project = await projectOfOne();
    const words = [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'length',
      'valueOf',
      '__defineGetter__',
    ];
    const flags = words.flatMap((word) => ['--meta-set', `${word}={"polluted":true}`, '--label-add', word]);
    const deep = '{"__proto__":{"a":1},"constructor":{"prototype":2}}';
    // Not `json`, whose schema check leaves out __proto__.
    expect((await project.run('task', 'update', ID, ...flags, '--meta-set', `deep=${deep}`)).exit).toBe(0);
    const { stdout } = await project.run('task', 'show', ID, '--json');
    const { metadata, labels } = JSON.parse(stdout) as Task;
    const pairs = words.map((word) => `"${word}":{"polluted":true}`);
    expect(metadata).toEqual(JSON.parse(`{${pairs.join(',')},"deep":${deep}}`));
    expect(Object.keys(metadata).toSorted()).toEqual([...words, 'deep'].toSorted());
    expect(labels).toEqual(words.toSorted());
    expect(await project.text('task', 'show', ID)).toContain('__proto__ = {"polluted":true}');
    expect(await project.json('task', 'list', '--label', '__proto__', '--fields', 'id')).toEqual([
      { id: ID },
    ]);
    expect(await project.json('search', '--label', 'isPrototypeOf')).toEqual([]);

    // Nobody else's task has any of it, and they go as they came.
    expect((await project.create('other')).metadata).toEqual({});
    const less = words.flatMap((word) => ['--meta-unset', word, '--label-remove', word]);
    expect(await project.json('task', 'update', ID, ...less, '--meta-unset', 'deep')).toMatchObject({
      metadata: {},
      labels: [],
    });
  });

  test('a number that JSON readers would change is refused with a way out', async () => {
    await using project = await projectOfOne();
    const numbers = [
      '9007199254740993',
      '-9007199254740993',
      '12345678901234567890',
      '1e400',
      '-1e400',
      '1e22',
    ];
    await expectRefused(project, [
      ...numbers.map((number) => ({
        ...metaSet(`k=${number}`, `--meta-set k holds the number ${number}`),
        hint: 'string',
      })),
      {
        ...metaSet('k={"a":[9007199254740993]}', '--meta-set k holds the number 9007199254740993'),
        hint: 'string',
      },
    ]);
    await project.json(
      'task',
      'update',
      ID,
      '--meta-set',
      'k="9007199254740993"',
      '--meta-set',
      'm=9007199254740991',
    );
    expect((await project.show(ID)).metadata).toEqual({ k: '9007199254740993', m: 9007199254740991 });
  });

  test('a number that becomes another one when it is stored is refused', async () => {
    await using project = await projectOfOne();
    await expectRefused(project, [
      metaSet('k=1e-400', '--meta-set k holds the number 1e-400'),
      metaSet('k=1.0000000000000000000001', '--meta-set k holds the number 1.0000000000000000000001'),
    ]);
  });

  test('broken assignments say what they want', async () => {
    await using project = await projectOfOne();
    await project.write('folder/file', '');
    const usage = (value: string, says: string): Refusal => ({ ...metaSet(value, says), code: 'usage' });
    const quoted = 'write it as a JSON string';
    await expectRefused(project, [
      usage('k', '--meta-set wants key=value, not "k"'),
      usage('', '--meta-set wants key=value, not ""'),
      usage('=v', '--meta-set wants key=value, not "=v"'),
      usage('k=@', '--meta-set k=@ names no file'),
      { ...metaSet('k={bad', '--meta-set k is not valid JSON: '), hint: quoted },
      { ...metaSet('k=[1,', '--meta-set k is not valid JSON: '), hint: quoted },
      { ...metaSet('k="open', '--meta-set k is not valid JSON: '), hint: quoted },
      { ...metaSet('k={"a":1}}', '--meta-set k is not valid JSON: '), hint: quoted },
      metaSet('k=@missing', '--meta-set k: missing does not exist'),
      metaSet('k=@folder', '--meta-set k: folder is a folder'),
      metaSet(`${'k'.repeat(201)}=1`, 'A metadata key has 1 to 200 characters'),
      {
        args: ['task', 'update', ID, '--meta-unset', ''],
        code: 'invalid_input',
        says: '--meta-unset "": must not be empty',
      },
    ]);
  });

  test('what is no JSON literal is text, and of one key the last one counts', async () => {
    await using project = await projectOfOne();
    const texts = {
      a: '01',
      b: 'True',
      c: '+1',
      d: '.5',
      e: '1.',
      f: "'x'",
      g: '',
      h: '1e',
      i: 'NaN',
      j: 'a=b',
      k: ' {',
    };
    const flags = Object.entries(texts).flatMap(([key, value]) => ['--meta-set', `${key}=${value}`]);
    const last = [
      '--meta-set',
      'twice=1',
      '--meta-set',
      'twice={"x":1,"y":2,"x":3}',
      '--meta-set',
      'at=@@file',
    ];
    await project.json('task', 'update', ID, ...flags, ...last);
    expect((await project.show(ID)).metadata).toEqual({ ...texts, twice: { x: 3, y: 2 }, at: '@file' });
  });

  test('a NUL is refused in metadata as in every other text', async () => {
    await using project = await projectOfOne();
    await project.write('nul.txt', 'a\0b');
    await expectRefused(project, [
      metaSet('k=@nul.txt', /NUL/),
      metaSet(String.raw`k="a\u0000b"`, /NUL/),
      metaSet(String.raw`k={"a\u0000b":1}`, /NUL/),
    ]);
  });

  test('half of a surrogate pair is kept as JSON has it, and shown escaped', async () => {
    await using project = await projectOfOne();
    await project.json('task', 'update', ID, '--meta-set', String.raw`k={"\ud800":"\udfff"}`);
    expect((await project.show(ID)).metadata).toEqual({ k: { '\ud800': '\udfff' } });
    expect(await project.text('task', 'show', ID)).toContain(String.raw`k = {"\ud800":"\udfff"}`);
  });
});

describe('size', () => {
  test('1 MiB in all is kept, one byte more is refused, by one value or by many', async () => {
    await using project = await projectOfOne();
    // {"k":"…"} takes eight bytes more than its text.
    await project.write('most.txt', 'm'.repeat(LIMITS.metadata_bytes - 8));
    await project.write('more.txt', 'm'.repeat(LIMITS.metadata_bytes - 7));
    await project.write('half.txt', 'é'.repeat(LIMITS.metadata_bytes / 4));
    await expectRefused(project, [
      metaSet('k=@more.txt', `The metadata of a task takes ${LIMITS.metadata_bytes + 1} bytes`),
      {
        args: ['task', 'create', 'x', '--meta-set', 'a=@half.txt', '--meta-set', 'b=@half.txt'],
        code: 'invalid_input',
        says: /^The metadata of a task takes \d+ bytes; the limit is 1048576$/,
      },
    ]);
    await project.json('task', 'update', ID, '--meta-set', 'k=@most.txt');
    expect(String((await project.show(ID)).metadata['k'])).toHaveLength(LIMITS.metadata_bytes - 8);
    await expectRefused(project, [
      metaSet('another=1', /^The metadata of a task takes \d+ bytes; the limit is 1048576$/),
    ]);
    expect(
      await project.json('task', 'update', ID, '--meta-unset', 'k', '--meta-set', 'another=1'),
    ).toMatchObject({
      metadata: { another: 1 },
    });
  });
});

function metaSet(assignment: string, says: string | RegExp): Refusal {
  return { args: ['task', 'update', ID, '--meta-set', assignment], code: 'invalid_input', says };
}

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

async function projectOfOne(): Promise<ForgeProject> {
  const project = await forgeProjectHere();
  bringTasks(project.path, [{ id: ID }]);
  await project.text('ready');
  return project;
}
