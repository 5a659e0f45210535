import { describe, expect, it } from 'vitest';
import { acceptArgv } from './accept-argv.ts';
import { FLAG_TABLE } from './flag-table.generated.ts';

const accept = (...argv: string[]) => acceptArgv(argv, FLAG_TABLE);
const input = (...argv: string[]) => accept(...argv)?.input;
const noGlobals = { json: false, color: true, quiet: false };

describe('acceptArgv finds the command', () => {
  it.each([
    [['ready'], 'task.ready'],
    [['task', 'show', 'fg-a3f8'], 'task.show'],
    [['task', 'claim', 'fg-a3f8'], 'task.claim'],
    [['claim', 'fg-a3f8'], 'task.claim'],
    [['--json', 'ready'], 'task.ready'],
    [['task', '--quiet', 'list'], 'task.list'],
    [['-C', 'dir', 'task', '--actor', 'a', 'list', '--json'], 'task.list'],
    [['mcp'], 'mcp.serve'],
    [['mcp', '--actor', 'a'], 'mcp.serve'],
    [['mcp', 'install', '--client', 'codex'], 'mcp.install'],
    [['mcp', '--quiet', 'install', '--client', 'codex'], 'mcp.install'],
  ])('%j', (argv, name) => {
    expect(accept(...argv)?.operation.name).toBe(name);
  });
  it.each([
    [[]],
    [['task']],
    [['tsak']],
    [['task', 'tsak']],
    [['']],
    [['-']],
    [['--']],
    [['--', 'ready']],
    [['help']],
    [['help', 'ready']],
    [['--json']],
    [['mcp', 'instal']],
    [['mcp', '--', 'install', '--client', 'codex']],
    [['mcp', '--client', 'codex', 'install']],
  ])('leaves %j', (argv) => {
    expect(accept(...argv)).toBeUndefined();
  });
});

describe('acceptArgv reads values', () => {
  it('takes all the words that are left for a last argument that is a list', () => {
    expect(input('batch', 'add', 'b', 'fg-a3f8', '--json', 'x1', '--', '-y')).toEqual({
      name: 'b',
      ids: ['fg-a3f8', 'x1', '-y'],
    });
    expect(input('batch', 'create', 'b')).toEqual({ name: 'b' });
    expect(input('batch', 'add', 'b')).toBeUndefined();
  });
  it('takes both spellings, switches, repeats and null', () => {
    expect(
      input(
        'task',
        'create',
        'Fix it',
        '--type',
        'bug',
        '--priority=0',
        '--label',
        'a',
        '--label=b',
        '--assignee',
        'none',
        '--meta-set',
        'k=1',
      ),
    ).toEqual({
      title: 'Fix it',
      type: 'bug',
      priority: 0,
      labels: ['a', 'b'],
      assignee: null,
      metadata_set: { k: 1 },
    });
    expect(input('claim', '--next', '--force')).toEqual({ next: true, force: true });
  });
  it('takes flags before, between and behind arguments', () => {
    const wanted = { from_id: 'a', to_id: 'b', type: 'related' };
    expect(input('dep', 'add', '--type', 'related', 'a', 'b')).toEqual(wanted);
    expect(input('dep', 'add', 'a', '--type', 'related', 'b')).toEqual(wanted);
    expect(input('dep', 'add', 'a', 'b', '--type', 'related')).toEqual(wanted);
  });
  it('takes everything behind -- as arguments', () => {
    expect(input('task', 'create', '--priority', '1', '--', '--json')).toEqual({
      title: '--json',
      priority: 1,
    });
    expect(accept('task', 'create', 'x', '--')?.input).toEqual({ title: 'x' });
  });
  it('takes a lone dash as a value', () => {
    expect(input('task', 'create', '-')).toEqual({ title: '-' });
    expect(input('search', '--query', '-')).toEqual({ query: '-' });
  });
  it('takes a value that begins with a dash behind an equals sign', () => {
    expect(input('task', 'close', 'x', '--reason=--json')).toEqual({ id: 'x', reason: '--json' });
    expect(input('search', '--query=-')).toEqual({ query: '-' });
    expect(input('task', 'close', 'x', '--reason=a=b')).toEqual({ id: 'x', reason: 'a=b' });
  });
  it('lets an argument be missing that may be', () => {
    expect(input('graph')).toEqual({});
    expect(input('graph', 'fg-a3f8')).toEqual({ id: 'fg-a3f8' });
  });
  it('lets a switch be repeated: it says the same twice', () => {
    expect(accept('task', 'list', '--all', '--all', '--json', '--json')).toMatchObject({
      input: { all: true },
      globals: { json: true },
    });
  });
  it('takes the flag --version of a command that has one', () => {
    expect(input('task', 'update', 'x', '--version', '3')).toEqual({ id: 'x', version: 3 });
  });
});

describe('acceptArgv reads global flags', () => {
  it('has defaults', () => {
    expect(accept('ready')?.globals).toEqual(noGlobals);
  });
  it('reads all of them, anywhere', () => {
    expect(
      accept(
        '--no-color',
        'ready',
        '--json',
        '--fields',
        'id, title',
        '--actor=agent:w-1',
        '-C',
        'x',
        '--quiet',
      )?.globals,
    ).toEqual({
      json: true,
      fields: ['id', 'title'],
      actor: 'agent:w-1',
      directory: 'x',
      color: false,
      quiet: true,
    });
    expect(accept('ready', '--directory', 'x')?.globals).toEqual({ ...noGlobals, directory: 'x' });
    const server = 'http://127.0.0.1:8080';
    expect(accept('--server', server, 'ready')?.globals).toEqual({ ...noGlobals, server });
  });
});

describe('acceptArgv records what is still to come', () => {
  it('files of a field', () => {
    expect(accept('task', 'create', 'x', '--description-file', 'spec.md')).toMatchObject({
      input: { title: 'x' },
      files: [{ field: 'description', path: 'spec.md' }],
    });
  });
  it('a file for a required argument', () => {
    expect(accept('task', 'comment', 'x', '--body-file', '-')).toMatchObject({
      input: { id: 'x' },
      files: [{ field: 'body', path: '-' }],
    });
  });
  it('files of assignments', () => {
    expect(accept('task', 'update', 'x', '--meta-set', 'log=@build.log', '--meta-set', 'n=1')).toMatchObject({
      input: { metadata_set: { n: 1 } },
      files: [{ field: 'metadata_set', key: 'log', path: 'build.log' }],
    });
  });
  it('a field that can be asked for', () => {
    expect(accept('task', 'close', 'x')).toMatchObject({
      input: { id: 'x' },
      operation: { prompt: { field: 'reason' } },
    });
  });
});

describe('acceptArgv leaves to the slow parser', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['help', ['ready', '--help']],
    ['short help', ['task', 'create', 'x', '-h']],
    ['the version', ['--version']],
    ['the version behind a command', ['ready', '--version']],
    ['an unknown flag', ['ready', '--limt', '5']],
    ['a flag of another command', ['ready', '--priority', '1']],
    ['a flag before its command', ['--limit', '5', 'ready']],
    ['a missing argument', ['task', 'create']],
    ['an argument too many', ['ready', 'x']],
    ['an argument as a flag', ['task', 'create', '--title', 'x']],
    ['a missing value', ['ready', '--limit']],
    ['a flag where a value should be', ['task', 'close', 'x', '--reason', '--json']],
    ['a dash before text', ['search', '--query', '-5']],
    ['-- where a value should be', ['search', '--query', '--', 'x']],
    ['a value for a switch', ['task', 'list', '--all=yes']],
    ['a flag given twice', ['ready', '--limit', '1', '--limit', '2']],
    ['a global flag given twice', ['ready', '--actor', 'a', '--actor', 'b']],
    ['a number that is none', ['ready', '--limit', 'ten']],
    ['a number out of range', ['ready', '--limit', '0']],
    ['a negative number out of range', ['task', 'list', '--priority', '-1']],
    ['a number beyond 2^53', ['search', '--github-issue', '9007199254740993']],
    ['a word not in the list', ['ready', '--type', 'bgu']],
    ['an empty title', ['task', 'create', '']],
    ['a title of two lines', ['task', 'create', 'a\nb']],
    ['a label with blanks', ['task', 'create', 'x', '--label', ' a']],
    ['too many labels', ['task', 'create', 'x', ...Array.from({ length: 101 }, (_, at) => `--label=${at}`)]],
    ['null where there is none', ['claim', 'x', '--assignee=']],
    ['an assignment without a key', ['task', 'create', 'x', '--meta-set', '=1']],
    ['an assignment with bad JSON', ['task', 'create', 'x', '--meta-set', 'a={']],
    ['a value and a file', ['task', 'create', 'x', '--description', 'a', '--description-file', 'b']],
    ['standard input twice', ['task', 'create', 'x', '--description-file', '-', '--meta-set', 'a=@-']],
    ['a file without a name', ['task', 'create', 'x', '--description-file=']],
    ['fields without JSON', ['ready', '--fields', 'id']],
    ['a field that the answer does not have', ['ready', '--json', '--fields', 'id,foo']],
    ['an empty field name', ['ready', '--json', '--fields', 'id,']],
    ['an actor with blanks', ['ready', '--actor', ' a']],
    ['an empty folder', ['ready', '--directory=']],
    ['an empty server', ['ready', '--server=']],
    ['a short flag with its value attached', ['ready', '-Cdir']],
  ];
  it.each(cases)('%s', (_name, argv) => {
    expect(acceptArgv(argv, FLAG_TABLE)).toBeUndefined();
  });
});
