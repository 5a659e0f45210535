import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findInJsonc, JsoncShapeFault, removeFromJsonc, setInJsonc } from './edit-jsonc.ts';
import { JsoncFault, parseJsonc } from './parse-jsonc.ts';

const PATH = ['mcpServers', 'forge'];
const ENTRY = { command: '/usr/bin/node', args: ['/opt/forge.cjs', 'mcp'] };

const COMMENTED = `// made by hand
{
    /* servers */
    "mcpServers": {
        "other": { "command": "x" }, // keep me
    },
    "theme": "dark", // trailing
}
`;

describe('an entry in JSON with comments', () => {
  it('is added behind the others, with every other byte as it was', () => {
    const text = setInJsonc(COMMENTED, PATH, ENTRY);
    expect(text).toBe(`// made by hand
{
    /* servers */
    "mcpServers": {
        "other": { "command": "x" }, // keep me
        "forge": {
            "command": "/usr/bin/node",
            "args": [
                "/opt/forge.cjs",
                "mcp"
            ]
        },
    },
    "theme": "dark", // trailing
}
`);
    expect(removeFromJsonc(text, PATH)).toBe(COMMENTED);
  });

  it.each([
    ['{}\n', '{\n  "mcpServers": {\n    "forge": 1\n  }\n}\n'],
    ['{"a":1}', '{"a":1,\n  "mcpServers": {\n    "forge": 1\n  }\n}'],
    ['{\r\n\t"a": 1\r\n}\r\n', '{\r\n\t"a": 1,\r\n\t"mcpServers": {\r\n\t\t"forge": 1\r\n\t}\r\n}\r\n'],
    ['{ // nothing yet\n}', '{ // nothing yet\n  "mcpServers": {\n    "forge": 1\n  }\n}'],
    ['{\n  "a": 1 // one\n}\n', '{\n  "a": 1, // one\n  "mcpServers": {\n    "forge": 1\n  }\n}\n'],
    ['\ufeff{}', '\ufeff{\n  "mcpServers": {\n    "forge": 1\n  }\n}'],
  ])('goes into %j', (before, after) => {
    expect(setInJsonc(before, PATH, 1)).toBe(after);
  });

  it('is replaced in its place, and a second time is no change', () => {
    const before = '{"mcpServers": {"forge": {"command": "old"}, "z": 1}}';
    const after = setInJsonc(before, [...PATH, 'command'], 'new');
    expect(after).toBe('{"mcpServers": {"forge": {"command": "new"}, "z": 1}}');
    expect(setInJsonc(after, [...PATH, 'command'], 'new')).toBe(after);
  });

  it.each([
    ['{"mcpServers": {"forge": 1}, "a": 2}', '{ "a": 2}'],
    ['{"mcpServers": {"forge": 1, "z": 1}}', '{"mcpServers": { "z": 1}}'],
    ['{"mcpServers": {"a": 1, "forge": 1}}', '{"mcpServers": {"a": 1 }}'],
    ['{"mcpServers": { /* mine */ "forge": 1}}', '{"mcpServers": { /* mine */ }}'],
    ['{"a": 1}', '{"a": 1}'],
  ])('is taken out of %j', (before, after) => {
    expect(removeFromJsonc(before, PATH)).toBe(after);
    parseJsonc(after);
  });

  it.each([
    '',
    '{',
    '{"a"}',
    '{"a": }',
    '{} {}',
    '{"a": 1 "b": 2}',
    '{/*',
    '[1',
    '{"a": tru}',
    "{'a': 1}",
    '{"a": 01}',
  ])('is not put into %j, which cannot be read', (text) => {
    expect(() => setInJsonc(text, PATH, 1)).toThrow(JsoncFault);
  });

  it.each(['[]', '"text"', '{"mcpServers": []}', '{"mcpServers": {}, "mcpServers": {}}'])(
    'is not put into %j, which has another shape',
    (text) => {
      expect(() => setInJsonc(text, PATH, 1)).toThrow(JsoncShapeFault);
    },
  );

  it('reads 100,000 brackets without falling over', () => {
    expect(() => parseJsonc('['.repeat(100_000))).toThrow(JsoncFault);
  });

  it('keeps whatever else stands in any document', () => {
    const key = fc.oneof(fc.constantFrom('mcpServers', 'forge', '__proto__', 'a'), fc.string());
    const document = fc.dictionary(
      key,
      fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.dictionary(key, fc.jsonValue({ maxDepth: 1 }))),
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(document, fc.constantFrom(undefined, 1, 2, '\t'), (value, indent) => {
        const servers: unknown = Object.hasOwn(value, 'mcpServers') ? value['mcpServers'] : {};
        fc.pre(typeof servers === 'object' && servers !== null && !Array.isArray(servers));
        const text = JSON.stringify(value, null, indent);
        const set = setInJsonc(text, PATH, ENTRY);
        const wanted = JSON.parse(text) as Record<string, Record<string, unknown>>;
        wanted['mcpServers'] = { ...wanted['mcpServers'], forge: ENTRY };
        expect(JSON.parse(set)).toEqual(wanted);
        expect(parseJsonc(set).value).toEqual(JSON.parse(set));
        expect(setInJsonc(set, PATH, ENTRY)).toBe(set);
        const removed = JSON.parse(removeFromJsonc(set, PATH)) as Record<string, object>;
        expect(findInJsonc(removeFromJsonc(set, PATH), PATH)).toBeUndefined();
        const { forge: _gone, ...others } = wanted['mcpServers'];
        expect(removed['mcpServers'] ?? {}).toEqual(others);
      }),
    );
  });
});
