import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VERSION } from '#app/version.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { addCommand, listBlocks, makeTourEnv, parseTour, runTour } from '../support/readme-tour.ts';
import { tempFolder } from '../support/temp-repo.ts';

const ROOT = join(import.meta.dirname, '../..');
const readme = readText('README.md');

describe('the tour of the README', () => {
  // A checker that sees nothing passes too: every kind of mistake has to be reported where it is planted.
  test('planted mistakes are reported', async () => {
    const mistakes = [
      ['Created task fg-b2c1: Answer GET', 'Created task fg-b2c1: Answer PUT'],
      ['fg-d4e5  P0   bug', 'fg-c9d1  P0   bug'],
      ['\nexit code 4\n', '\nexit code 4\nand more\n'],
      ['  waits for fg-c9d1  Show the orders on a page  [open]\n', ''],
      ['$ forge task history fg-a3f8', '$ forge task histroy fg-a3f8'],
      ['t_fg_a3f8 --> t_fg_b2c1', 't_fg_a3f8 --> t_fg_c9d1'],
      ['$ echo "$task"\n', '$ false\n'],
    ] as const;
    const planted = mistakes.reduce((page, [from, to]) => {
      expect(page).toContain(from);
      return page.replace(from, to);
    }, readme);
    expect(await tour(planted)).toEqual([
      expect.stringMatching(
        /"Answer GET .*: shows "Created task fg-b2c1: Answer PUT .*", is "Created task fg-b2c1: Answer GET /,
      ),
      expect.stringMatching(/forge ready: shows "fg-c9d1 {2}P0 .*", is "fg-d4e5 {2}P0 /),
      expect.stringMatching(/forge claim fg-d4e5 .*: shows "and more", is nothing$/),
      expect.stringMatching(/forge blocked: shows nothing, is " {2}waits for fg-c9d1 /),
      expect.stringMatching(/forge task histroy fg-a3f8: exited with 2: forge: Unknown command/),
      expect.stringMatching(
        /forge graph .*: shows " {2}t_fg_a3f8 --> t_fg_c9d1", is " {2}t_fg_a3f8 --> t_fg_b2c1"/,
      ),
      expect.stringMatching(/\$ false: exited with 1: $/),
    ]);
  });

  test('an id that no output showed stays unknown', async () => {
    const page = '```console\n$ git init -q . && forge init > log\n$ forge task show fg-zzz9\n```\n';
    expect(await tour(page)).toEqual([expect.stringMatching(/exited with 3: forge: No task fg-zzz9/)]);
  });

  test('does what it shows', async () => {
    expect(parseTour(readme).length).toBeGreaterThan(20);
    expect(await tour(readme)).toEqual([]);
  });
});

test('the agent loop of the README works off the graph and parks what fails', async () => {
  const [loop, ...others] = listBlocks(readme, 'sh').filter(({ lines }) =>
    lines.some((line) => line.startsWith('while ')),
  );
  expect(others).toEqual([]);
  expect(loop?.lines).toHaveLength(10);
  await using home = await tempFolder({ folder: 'home' });
  await using folder = await tempFolder();
  const env = await makeTourEnv(home.path, ROOT);
  await addCommand(join(home.path, 'bin'), 'my-agent', '! grep -q Impossible "$1"');
  const step = (command: string) => ({ line: 0, command, shown: [] });
  const shown = (command: string, ...lines: string[]) => ({ line: 0, command, shown: lines });
  const found = await runTour(
    [
      step('git init --quiet shop && cd shop && forge init > ../log'),
      shown('forge task create "First"', 'Created task fg-a3f8: First'),
      step('forge task create "Second" --depends-on fg-a3f8 > ../log'),
      step('forge task create "Impossible" > ../log'),
      step(`{ ${loop?.lines.join('\n')}\n} > ../log`),
      shown('forge task list --all --json --fields title,status,state | cat', EXPECTED),
    ],
    { folder: folder.path, env },
  );
  expect(found).toEqual([]);
});

const EXPECTED = JSON.stringify([
  { title: 'First', status: 'closed', state: 'done' },
  { title: 'Second', status: 'closed', state: 'done' },
  { title: 'Impossible', status: 'open', state: 'backlog' },
]);

test('the README names the two set-up commands and no other', () => {
  const named = [...readme.matchAll(/npm (?:ci|i|install)\b[^`\n]*/g)].map(([command]) => command.trim());
  const setUp = named.filter((command) => !command.startsWith('npm install --save-dev /path/to/forge'));
  expect(setUp).toEqual(['npm ci && npm start', 'npm ci && npm test']);
});

test('package, program and changelog have one version', () => {
  const [, newest] = /^## \[?(\d+\.\d+\.\d+)\]?/m.exec(readText('CHANGELOG.md')) ?? [];
  expect({ program: VERSION, changelog: newest }).toEqual({
    program: packageJson.version,
    changelog: packageJson.version,
  });
});

describe('links between the pages', () => {
  const pages = globSync('**/*.md', {
    cwd: ROOT,
    exclude: (name) => /^(node_modules|dist|coverage|\.git)$/.test(name),
  })
    .map((path) => path.split(sep).join('/'))
    .toSorted();

  test('lead to files and headings that exist', () => {
    expect(pages).toContain('README.md');
    expect(pages.flatMap((page) => findDeadLinks(page, readText(page)))).toEqual([]);
  });

  test('a dead link and a dead heading are reported', () => {
    const page =
      'See [a](docs/no-such-page.md), [b](docs/cli.md#no-such-heading), [c](#nowhere) and [d](https://a.b/c).';
    expect(findDeadLinks('README.md', page)).toEqual([
      'README.md: docs/no-such-page.md does not exist',
      'README.md: docs/cli.md has no heading #no-such-heading',
      'README.md: README.md has no heading #nowhere',
    ]);
  });
});

async function tour(markdown: string): Promise<readonly string[]> {
  await using folder: TempFolder = await tempFolder({ folder: 'ada' });
  return await runTour(parseTour(markdown), {
    folder: folder.path,
    env: await makeTourEnv(folder.path, ROOT),
  });
}

/** Relative links and images of a page that lead nowhere; code is left out. */
function findDeadLinks(page: string, markdown: string): readonly string[] {
  const prose = markdown.replaceAll(/^(`{3,})[^]*?^\1\s*$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
  return targets.flatMap((target) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', heading] = target.split('#');
    const file = path === '' ? page : join(dirname(page), path).split(sep).join('/');
    if (!existsSync(resolve(ROOT, file))) return [`${page}: ${file} does not exist`];
    if (heading === undefined || listHeadings(readText(file)).has(heading)) return [];
    return [`${page}: ${file} has no heading #${heading}`];
  });
}

/** As GitHub names them. */
function listHeadings(markdown: string): ReadonlySet<string> {
  const headings = markdown.replaceAll(/^(`{3,})[^]*?^\1\s*$/gm, '').matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').replaceAll('\r\n', '\n');
}
