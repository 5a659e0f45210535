import { describe, expect, it } from 'vitest';
import { removeTomlTable, setTomlTable } from './edit-toml.ts';
import { scanToml, TomlFault } from './scan-toml.ts';

const PATH = ['mcp_servers', 'forge'];
const VALUES = { command: '/usr/bin/node', args: ['/opt/forge.cjs', 'mcp'] };
const TABLE = '[mcp_servers.forge]\ncommand = "/usr/bin/node"\nargs = ["/opt/forge.cjs", "mcp"]\n';

const CONFIG = `# mine
model = "gpt" # the best
notify = [ "a", # first
  "[mcp_servers.forge]", ]
prompt = """
[mcp_servers.forge]
command = "not this" """
date = 1979-05-27 07:32:00

[mcp_servers."other one"]
command = 'C:\\tool'
env = { A = "1", "b.c" = "}" }

[[profiles]]
name = "x"
`;

describe('a table in TOML', () => {
  it('is added at the end and taken out again, byte by byte', () => {
    const after = setTomlTable(CONFIG, PATH, VALUES);
    expect(after).toBe(`${CONFIG}\n${TABLE}`);
    expect(setTomlTable(after, PATH, VALUES)).toBe(after);
    expect(removeTomlTable(after, PATH)).toBe(CONFIG);
  });

  it('is the whole of an empty file, and begins a line of its own in one without a last newline', () => {
    expect(setTomlTable('', PATH, VALUES)).toBe(TABLE);
    expect(setTomlTable('a = 1', PATH, VALUES)).toBe(`a = 1\n\n${TABLE}`);
  });

  it('is changed in its place, and keeps what else stands in it', () => {
    const before = `[mcp_servers.forge] # ours\ncommand = "old" # why\nstartup_timeout_sec = 20\n\n[mcp_servers.forge.env]\nA = "1"\n\n# about z\n[z]\nb = 1\n`;
    const after = setTomlTable(before, PATH, VALUES);
    expect(after).toBe(
      before
        .replace('"old"', '"/usr/bin/node"')
        .replace('# ours\n', '# ours\nargs = ["/opt/forge.cjs", "mcp"]\n'),
    );
    expect(removeTomlTable(after, PATH)).toBe('\n\n# about z\n[z]\nb = 1\n');
  });

  it('keeps the line ends of Windows', () => {
    expect(setTomlTable('a = 1\r\n', PATH, { command: 'x' })).toBe(
      'a = 1\r\n\r\n[mcp_servers.forge]\r\ncommand = "x"\r\n',
    );
  });

  it.each([
    'mcp_servers = { forge = { command = "x" } }',
    'mcp_servers.forge.command = "x"',
    '[mcp_servers]\nforge = { command = "x" }',
    '[mcp_servers]\nforge.command = "x"',
    '[[mcp_servers.forge]]\ncommand = "x"',
    '[mcp_servers.forge]\n[mcp_servers.forge]',
  ])('is left alone where it is written as %j', (text) => {
    expect(() => setTomlTable(text, PATH, VALUES)).toThrow(TomlFault);
    expect(() => removeTomlTable(text, PATH)).toThrow(TomlFault);
  });

  it.each([
    'a',
    'a = ',
    'a = "x',
    'a = [1',
    '[a',
    '[[a]',
    'a = {b = 1',
    'a = 1 2',
    '= 1',
    'a = """x',
    '{"a": 1}',
  ])('is not put into %j, which cannot be read', (text) => {
    expect(() => setTomlTable(text, PATH, VALUES)).toThrow(TomlFault);
  });

  it('finds every statement and nothing inside of texts and lists', () => {
    expect(scanToml(CONFIG).map(({ kind, keys }) => `${kind} ${keys.join('.')}`)).toEqual([
      'value model',
      'value notify',
      'value prompt',
      'value date',
      'table mcp_servers.other one',
      'value command',
      'value env',
      'list of tables profiles',
      'value name',
    ]);
  });

  it('reads 100,000 brackets without falling over', () => {
    expect(() => scanToml(`a = ${'['.repeat(100_000)}`)).toThrow(TomlFault);
  });
});
