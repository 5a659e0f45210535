import { describe, expect, it } from 'vitest';
import { type ErrorCode, isForgeError } from '#kernel/errors.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { parseArgv } from './commander-parser.ts';

const options = { table: FLAG_TABLE, version: '1.2.3', view: { color: false, columns: 80 } };
const parse = (...argv: string[]) => parseArgv(argv, options);

function input(...argv: string[]): unknown {
  const parsed = parse(...argv);
  return parsed.outcome === 'accepted' ? parsed.accepted.input : undefined;
}

function refusal(...argv: string[]): { code: ErrorCode; message: string; hint: string | undefined } {
  try {
    parse(...argv);
  } catch (error) {
    if (isForgeError(error)) return { code: error.code, message: error.message, hint: error.hint };
    throw error;
  }
  return expect.unreachable(`${argv.join(' ')} was accepted`);
}

describe('parseArgv accepts what only commander knows', () => {
  it.each([
    [['search', '--query', '-5'], { query: '-5' }],
    [['search', '--query', '- a list'], { query: '- a list' }],
    [['task', 'show', '-5'], { id: '-5' }],
    [['-Cdir', 'ready', '--limit', '3'], { limit: 3 }],
    [['--', 'ready', '--limit', '3'], { limit: 3 }],
  ])('%j', (argv, wanted) => {
    expect(input(...argv)).toEqual(wanted);
  });
  it('a command that begins with the words of another', () => {
    const found = (...argv: string[]) => {
      const parsed = parse(...argv);
      return parsed.outcome === 'accepted' ? parsed.accepted.operation.name : 'help';
    };
    expect(found('mcp')).toBe('mcp.serve');
    expect(found('-Cdir', 'mcp', '--quiet')).toBe('mcp.serve');
    expect(found('-Cdir', 'mcp', '--quiet', 'install', '--client', 'codex')).toBe('mcp.install');
    expect(found('mcp', '--help')).toBe('help');
    expect(refusal('mcp', 'instal')).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('instal') as string,
    });
    expect(refusal('mcp', '--client', 'codex', 'install')).toMatchObject({ code: 'usage' });
    expect(refusal('mcp', '--actor')).toMatchObject({ message: '--actor needs a value' });
  });
  it.each([
    [['--command', 'bash', '-c', 'a b', '--max', '2'], { command: ['bash', '-c', 'a b'], max: 2 }],
    [['--command=bash', '--command=-c', '--command=--max'], { command: ['bash', '-c', '--max'] }],
    [['--command', 'bash', '--command', '-c'], { command: ['bash', '-c'] }],
    [['--command', 'make', '-C', 'sub', '--json'], { command: ['make', '-C', 'sub'] }],
    [['--command', 'npm', 'test', '--', '--json'], { command: ['npm', 'test', '--', '--json'] }],
    [['--command', '--', 'x', '--max', '2'], { command: ['x', '--max', '2'] }],
    [['--command', 'x', '--unknown', '--env=A=b'], { command: ['x', '--unknown'], env: ['A=b'] }],
    [['--env', 'A=1', '--env', 'B=x=y'], { env: ['A=1', 'B=x=y'] }],
  ])('a flag that takes the words up to the next: %j', (argv, wanted) => {
    expect(input('agent', 'add', 'w', ...argv)).toEqual({ name: 'w', ...wanted });
  });
  it('parts of an object, each with its flag', () => {
    const steps = ['--ci-step', 'npm test', '--ci-step', 'make'];
    expect(input('task', 'update', 'x', ...steps, '--review-prompt', 'none')).toEqual({
      id: 'x',
      ci_steps: ['npm test', 'make'],
      review_prompt: null,
    });
    expect(input('task', 'update', 'x', '--ci-step', 'none')).toEqual({ id: 'x', ci_steps: null });
    expect(input('task', 'update', 'x', '--ci-step', 'none', '--ci-step', 'b')).toEqual({
      id: 'x',
      ci_steps: ['none', 'b'],
    });
  });
  it('reads a value attached to -C', () => {
    expect(parse('ready', '-Cdir')).toMatchObject({ accepted: { globals: { directory: 'dir' } } });
  });
  it('keeps a key that Zod would drop', () => {
    expect(JSON.stringify(input('task', 'update', 'x', '--meta-set', '__proto__=1'))).toBe(
      '{"id":"x","metadata_set":{"__proto__":1}}',
    );
  });
});

describe('parseArgv refuses', () => {
  it('a flag that takes words and is given none, and a part that is none', () => {
    expect(refusal('agent', 'add', 'w', '--command')).toMatchObject({ message: '--command needs a value' });
    expect(refusal('agent', 'add', 'w', '--command', '--max', '2')).toMatchObject({
      message: '--command needs a value, and --max looks like a flag',
    });
    expect(refusal('agent', 'add', 'w', '--env', 'FORGE_RUN_ID=1')).toMatchObject({
      code: 'invalid_input',
      message: '--env "FORGE_RUN_ID=1": a variable is NAME=value, and names that begin with FORGE_ are taken',
    });
    expect(refusal('task', 'create', 'x', '--ci-step', 'a', '--ci-step', ' ')).toMatchObject({
      message: '--ci-step " ": a step is a command: not blank, without a NUL character',
    });
    expect(refusal('task', 'create', 'x', ...Array.from({ length: 51 }, () => '--ci-step=a'))).toMatchObject({
      message: '--ci-step: at most 50 times',
    });
  });
  const cases: readonly (readonly [
    argv: readonly string[],
    code: ErrorCode,
    message: string,
    hint: string | undefined,
  ])[] = (
    [
      [['tsak'], 'usage', 'Unknown command: forge tsak; did you mean forge task?', 'forge --help'],
      [['redy'], 'usage', 'Unknown command: forge redy; did you mean forge ready?'],
      [['create', 'x'], 'usage', 'Unknown command: forge create; did you mean forge task create?'],
      [['close', 'x'], 'usage', 'Unknown command: forge close; did you mean forge task close?'],
      [
        ['task', 'ready'],
        'usage',
        'Unknown command: forge task ready; did you mean forge ready?',
        'forge task --help',
      ],
      [['task', 'crate', 'x'], 'usage', 'Unknown command: forge task crate; did you mean forge task create?'],
      [['xyzzy'], 'usage', 'Unknown command: forge xyzzy'],
      [['help', 'xyzzy'], 'usage', 'Unknown command: forge xyzzy'],
      [['--json'], 'usage', 'No command is given', 'forge --help'],
      [['task', '--json'], 'usage', 'No command is given', 'forge task --help'],
      [['ready', '--limt', '5'], 'usage', 'Unknown flag --limt; did you mean --limit?', 'forge ready --help'],
      [['ready', '--jsno'], 'usage', 'Unknown flag --jsno; did you mean --json?'],
      [['ready', '--limt=5'], 'usage', 'Unknown flag --limt; did you mean --limit?'],
      [['ready', '--wonderful'], 'usage', 'Unknown flag --wonderful'],
      [['ready', '-x'], 'usage', 'Unknown flag -x'],
      [
        ['--limit', '5', 'ready'],
        'usage',
        'Unknown flag --limit before the command (its own flags stand behind it)',
      ],
      [['ready', '--version'], 'usage', 'Unknown flag --version'],
      [['ready', '--json=yes'], 'usage', '--json takes no value'],
      [['task', 'list', '--all=yes'], 'usage', '--all takes no value'],
      [
        ['task', 'create', '--title', 'x'],
        'usage',
        '--title is no flag: the value stands alone',
        'forge task create <title> [flags]',
      ],
      [['ready', '--limit'], 'usage', '--limit needs a value', '--limit <n>'],
      [['ready', '-C'], 'usage', '-C needs a value', '-C, --directory <path>'],
      [
        ['task', 'close', 'x', '--reason', '--json'],
        'usage',
        '--reason needs a value, and --json looks like a flag',
        '--reason=--json if it is the value',
      ],
      [['ready', '--limit', '1', '--limit', '2'], 'usage', '--limit is given twice: "1" and "2"'],
      [['task', 'create', 'a', 'b'], 'usage', 'Too many arguments: "b" has no place'],
      [['task', 'create'], 'usage', '<title> is missing', 'forge task create <title> [flags]'],
      [
        ['dep', 'add'],
        'usage',
        '<from-id> and <to-id> are missing',
        'forge dep add <from-id> <to-id> [flags]',
      ],
      [
        ['task', 'create', 'x', '--description', 'a', '--description-file', 'b'],
        'usage',
        '--description and --description-file exclude each other',
      ],
      [
        ['task', 'comment', 'x', 'text', '--body-file', 'b'],
        'usage',
        '<body> and --body-file exclude each other',
      ],
      [
        ['task', 'create', 'x', '--description-file', '-', '--meta-set', 'k=@-'],
        'usage',
        'Standard input can be read only once: only one "-" or "@-" is possible',
      ],
      [
        ['ready', '--fields', 'id'],
        'usage',
        '--fields chooses fields of the JSON answer: it needs --json',
        'Add --json',
      ],
      [
        ['completion', 'bash', '--json', '--fields', 'x'],
        'usage',
        '--fields: no field x; the answer has shell, script',
      ],
      [
        ['completion', 'bash', '--json', '--fields', ''],
        'usage',
        '--fields wants names separated by commas; the answer has shell, script',
      ],
      [
        ['task', 'create', 'x', '--priority', '7'],
        'invalid_input',
        '--priority: must be between 0 and 4',
        'forge task create --help',
      ],
      [
        ['task', 'create', 'x', '--priority', 'high'],
        'invalid_input',
        '--priority: must be a whole number, 0 to 4, not "high"',
      ],
      [['task', 'update', 'x', '--version', '0'], 'invalid_input', '--version: must be at least 1'],
      [
        ['task', 'update', 'x', '--version', '1.5'],
        'invalid_input',
        '--version: must be a whole number, at least 1, not "1.5"',
      ],
      [
        ['task', 'update', 'x', '--github-issue', '0'],
        'invalid_input',
        '--github-issue: must be at least 1 or "none"',
      ],
      [
        ['search', '--github-issue', '9007199254740993'],
        'invalid_input',
        '--github-issue: must be at most 9007199254740991 or "none"',
      ],
      [
        ['ready', '--type', 'bgu'],
        'invalid_input',
        '--type: must be one of task, bug, feature, epic, message, not "bgu"',
      ],
      [['completion', 'tcsh'], 'invalid_input', '<shell>: must be one of bash, zsh, fish, not "tcsh"'],
      [
        ['task', 'create', ''],
        'invalid_input',
        '<title>: a title is one line and not blank, without control characters',
      ],
      [['task', 'create', 'x'.repeat(501)], 'invalid_input', '<title>: a title has at most 500 characters'],
      [['task', 'show', ''], 'invalid_input', '<id>: must not be empty'],
      [['task', 'show', 'x'.repeat(81)], 'invalid_input', '<id>: must have at most 80 characters'],
      [
        ['task', 'create', 'x', '--label', ' a', '--label', 'b'],
        'invalid_input',
        '--label " a": a label is one line without spaces around it',
      ],
      [
        ['task', 'create', 'x', ...Array.from({ length: 101 }, (_, at) => `--label=l${at}`)],
        'invalid_input',
        '--label: at most 100 times',
      ],
      [
        ['ready', '--actor', ' a'],
        'invalid_input',
        '--actor: an identity is one line without spaces around it',
      ],
      [
        ['ready', '--limit', '0', '--type', 'x'],
        'invalid_input',
        '--type: must be one of task, bug, feature, epic, message, not "x"; --limit: must be between 1 and 10000000',
      ],
      [
        ['task', 'create', 'x', '--meta-set', 'novalue'],
        'usage',
        '--meta-set wants key=value, not "novalue"',
        '--meta-set novalue=value',
      ],
    ] as const satisfies readonly (readonly [readonly string[], ErrorCode, string, string?])[]
  ).map(([argv, code, message, hint]) => [argv, code, message, hint]);
  it.each(cases)('%j', (argv, code, message, hint) => {
    const refused = refusal(...argv);
    expect(refused).toMatchObject({ code, message, ...(hint !== undefined && { hint }) });
  });
  it('shortens a long value in its message', () => {
    expect(refusal('ready', '--type', 'x'.repeat(1_000)).message.length).toBeLessThan(200);
  });
  it('does not ask about a field that a file or the prompt will bring', () => {
    expect(parse('task', 'comment', 'x', '--body-file', 'f', '--reply-to', '-1').outcome).toBe('accepted');
    expect(parse('task', 'close', 'x', '-Cd').outcome).toBe('accepted');
  });
});
