import { describe, expect, it } from 'vitest';
import { createLineMask, maskSecrets } from './find-secrets.ts';

const [BEGIN, END] = ['BEGIN', 'END'].map((word) => `-----${word} RSA ${'PRIVATE'} KEY-----`) as [
  string,
  string,
];
const BODY = [
  `MIIEowIBAAKCAQEA${'x7yQ1fZ0+b3Jn8Zk'.repeat(3)}`,
  `kL9mN0pQ${'/rS2tU3vW4xY5zA6'.repeat(3)}bC7dE8fG`,
  'qR5sT6uV',
  'x9==',
];

type Decorate = (line: string, at: number) => string;

/** What programs write around each line of a file, and what of it no screen shows. */
const AROUND: readonly (readonly [string, Decorate])[] = [
  ['nothing', (line) => line],
  ['colours', (line) => `\u001b[32m${line}\u001b[0m`],
  ['NUL', (line) => `${line}\u0000`],
  ['NUL after each letter', (line) => line.split('').join('\u0000')],
  ['a blank of no width', (line) => `${line}\u200b`],
  ['a blank and a backspace', (line) => `${line} \b`],
  ['a diff', (line) => `> ${line}`],
  ['a unified diff', (line) => `+${line}`],
  ['a line that went', (line) => `- ${line}`],
  ['a diff in colours', (line) => `\u001b[32m+\u001b[m\u001b[32m${line}\u001b[m`],
  ['the name of the file', (line) => `id.pem:${line}`],
  ['name and number', (line, at) => `id.pem:${at + 8}:${line}`],
  ['numbers', (line, at) => `${String(at + 8).padStart(6)}\t${line}`],
  ['the name of a service', (line) => `web_1  | ${line}`],
  ['a comment', (line) => `# ${line}`],
  ['a comment of C', (line) => ` * ${line}`],
  ['times', (line, at) => `2026-11-18T03:49:${58 + at}.123Z ${line}`],
  ['times in brackets', (line, at) => `[03:49:0${at}] INFO ${line}`],
  ['quotes and escapes', (line) => `"${line}\\n" +`],
  ['quotes and commas', (line) => `  "${line}",`],
  ['a dollar at the end', (line) => `${line}$`],
  ['a backslash at the end', (line) => `${line}\\`],
  ['a blank of another kind', (line) => `\u00a0${line}`],
  ['both line ends', (line) => `${line}\r`],
  ['escapes', (line) => line.replaceAll('+', '\\u002b').replaceAll('/', '%2F')],
];

describe('the lines of a private key', () => {
  it.each(AROUND)('are taken out with %s around them', (_, decorate) => {
    const lines = ['before', ...[BEGIN, ...BODY, END].map(decorate), 'after it (2 files)'];
    for (const masked of [lines.map(createLineMask()).join('\n'), maskSecrets(lines.join('\n'))]) {
      for (const [at, line] of BODY.entries()) {
        expect(masked).not.toContain(line);
        expect(masked).not.toContain(decorate(line, at + 1));
      }
      expect(masked).toMatch(/^before\n/);
      expect(masked).toMatch(/\nafter it \(2 files\)$/);
    }
  });

  it('are taken out of a source whose first line begins in another way', () => {
    const lines = [
      `const key = "${BEGIN}\\n" +`,
      ...BODY.map((line) => `    "${line}\\n" +`),
      `    "${END}";`,
    ];
    for (const masked of [lines.map(createLineMask()).join('\n'), maskSecrets(lines.join('\n'))])
      for (const line of BODY) expect(masked).not.toContain(line);
  });

  it('are taken out of JSON that quotes them', () => {
    const masked = maskSecrets(JSON.stringify({ text: [BEGIN, ...BODY, END, 'more'].join('\n> ') }));
    for (const line of BODY) expect(masked).not.toContain(line);
    expect(masked).toMatch(/more"\}$/);
  });

  it.each([
    [`grep '${BEGIN}' *`, 'nothing (0 files)', 'id.pem: ok'],
    [`> ${BEGIN}`, '> is how one begins (see the page).', '> abc'],
    [`+    if (line.startsWith('${BEGIN}')) {`, '+      return parse(line, 0);', '+    }'],
    [`src/a.ts:12: '${BEGIN}'`, 'src/b.ts:14: const x = read(y);', 'Error: no such file'],
    [`at read (${BEGIN})`, '    at Module._compile (node:internal/modules/cjs/loader:1554:14)', 'x'],
  ])('do not follow where a text only speaks of one: %s', (...lines) => {
    expect(lines.map(createLineMask()).slice(1)).toEqual(lines.slice(1));
  });

  it('take no longer than the length of a text says', () => {
    for (const part of [`${BEGIN}\\n`, `${BEGIN}"MIIE\\n`, `> ${BEGIN}\n`, `1${BEGIN}\n1 x\n`]) {
      const text = part.repeat(5_000);
      expect(maskSecrets(text).length).toBeLessThanOrEqual(text.length);
    }
  });
});
