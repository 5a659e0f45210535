import type { Random } from './random.ts';

const AT = '2026-02-10T09:00:00.000Z';
const WORDS = [
  '__proto__',
  'constructor',
  'id',
  'title',
  'status',
  'labels',
  '_v',
  'dependencies',
  'comments',
  'x',
];
const VALUES = [
  'null',
  '{}',
  '[]',
  '-1',
  '1e400',
  '""',
  '"\\u0000"',
  '"\\ud800"',
  'true',
  '[[[[[]]]]]',
  '99999999999999999999',
];
const BYTES = [
  '\u0000',
  '\u007f',
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\u2028',
  '\ufeff',
  '\u001b',
  'é',
  '\ufffd',
  '<<<<<<<',
];

/** A line of a task file as Forge writes it. */
export function toGoodLine(id: string): string {
  return JSON.stringify({
    id,
    title: `Task ${id}`,
    description: 'Some words, "quoted" and not.',
    status: 'open',
    type: 'task',
    priority: 2,
    labels: ['a', 'b'],
    dependencies: [],
    metadata: { n: 1, deep: { list: [1, 2, 3] } },
    created_at: AT,
    created_by: 'ada',
    updated_at: AT,
  });
}

/** Ways to spoil a line; a line that is spoiled several times goes through some of them one after the other. */
export const MUTATIONS: readonly ((line: string, random: Random) => string)[] = [
  (line, random) => line.slice(0, random.below(line.length)),
  (line, random) => line.slice(random.below(line.length)),
  (line, random) => splice(line, random, 1 + random.below(8), ''),
  (line, random) => splice(line, random, 0, random.pick(BYTES)),
  (line, random) => splice(line, random, 1, random.pick(BYTES)),
  (line, random) => line + line.slice(0, random.below(line.length)),
  (line, random) => line.replace(`"${random.pick(WORDS)}"`, `"${random.pick(WORDS)}"`),
  (line, random) => line.replace(/:("[^"]*"|\d+|\[[^\]]*\])/, `:${random.pick(VALUES)}`),
  (line, random) => line.replace('{', `{"${random.pick(WORDS)}":${random.pick(VALUES)},`),
  (line, random) => line.replace('"title":"', `"title":"${random.pick(BYTES).repeat(1 + random.below(50))}`),
  (line, random) => `${'['.repeat(random.below(200))}${line}`,
  (line, random) => line.replaceAll(random.pick([':', ',', '"']), random.pick([';', ' ', "'"])),
];

export function mutateLine(line: string, random: Random): string {
  let text = line;
  for (let times = 1 + random.below(3); times > 0; times -= 1) text = random.pick(MUTATIONS)(text, random);
  // What ends a line makes two of them.
  return text.replaceAll(/[\r\n]/g, ' ');
}

function splice(line: string, random: Random, remove: number, put: string): string {
  const at = random.below(line.length + 1);
  return line.slice(0, at) + put + line.slice(at + remove);
}
