import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSION } from '#app/version.ts';
import packageJson from '../../package.json' with { type: 'json' };
import {
  addCommand,
  listBlocks,
  makeTourEnv,
  openTour,
  parseTour,
  type Tour,
  type TourStep,
} from '../support/readme-tour.ts';
import { tempFolder, type TempFolder } from '../support/temp-repo.ts';

const ROOT = join(import.meta.dirname, '../..');
const readme = readText('README.md');

describe('the tour of the README', () => {
  const steps = parseTour(readme);
  const folders: TempFolder[] = [];
  let tour: Tour;
  let wrong: readonly string[];
  beforeAll(async () => {
    const [home, folder] = [await tempFolder({ folder: 'home' }), await tempFolder({ folder: 'ada' })];
    folders.push(home, folder);
    tour = openTour({ folder: folder.path, env: await makeTourEnv(home.path, ROOT) });
    wrong = await tour.follow(steps);
  }, 180_000);
  afterAll(async () => {
    await tour[Symbol.asyncDispose]();
    for (const folder of folders) await folder[Symbol.asyncDispose]();
  });

  test('every command of every console block is seen, with what is shown below it', () => {
    const page =
      'a\n```sh\n$ no\n```\n\n```console\n$ one\n1\n\n2\n\n$ two\n```\n\n```console\n$ three\n3\n```\n';
    expect(parseTour(page)).toEqual([
      { line: 7, command: 'one', shown: ['1', '', '2'] },
      { line: 12, command: 'two', shown: [] },
      { line: 16, command: 'three', shown: ['3'] },
    ]);
    expect(() => parseTour('```console\n1\n```\n')).toThrow('Line 2 shows output before any command');
  });

  // A checker that sees nothing passes too: every kind of mistake has to be reported where it is planted.
  test('planted mistakes are reported', async () => {
    const found = await tour.follow(steps.map(plantMistake));
    expect(found.map((sentence) => sentence.replace(/^line \d+: \$ /, ''))).toEqual([
      expect.stringMatching(/^forge task create "Design .*: shows ".*deSIGN.*", is ".*Design/),
      expect.stringMatching(/^forge dep tree .*: shows ".*fg-a3f8.*", is ".*fg-e5a2/),
      expect.stringMatching(/^FORGE_ACTOR=worker-2 forge claim fg-.*: shows "one more", is nothing$/),
      expect.stringMatching(/^forge blocked: shows nothing, is "/),
      expect.stringMatching(/^forge task histroy fg-a3f8: exited with 2: /),
      expect.stringMatching(/^forge graph .*: shows ".*--x.*", is ".*-->/),
      expect.stringMatching(/^forge task show fg-zzz9: exited with 3: /),
    ]);
  });

  test('does what it shows', () => {
    expect(steps.length).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
  });
});

test('the recorded tour has the commands of the README, in order', () => {
  const recorded = readText('docs/tour.txt').split('\n');
  const commands = recorded.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  expect(numberIds(commands)).toEqual(numberIds(parseTour(readme).map(({ command }) => command)));
});

/** Every id by the place of its first appearance. */
function numberIds(lines: readonly string[]): readonly string[] {
  const ids: string[] = [];
  return lines.map((line) =>
    line.replaceAll(/\bfg-[a-z0-9]{4,}\b/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `task ${ids.indexOf(id) + 1}`;
    }),
  );
}

function plantMistake(step: TourStep): TourStep {
  const { command, shown } = step;
  if (command.startsWith('forge task create "Design')) {
    return { ...step, shown: shown.map((line) => line.replace('Design', 'deSIGN')) };
  }
  if (command.startsWith('forge dep tree')) {
    return { ...step, shown: shown.map((line) => line.replace('fg-e5a2', 'fg-a3f8')) };
  }
  if (command.startsWith('FORGE_ACTOR=worker-2 forge claim fg-'))
    return { ...step, shown: [...shown, 'one more'] };
  if (command.startsWith('forge blocked')) return { ...step, shown: shown.slice(0, -1) };
  if (command.startsWith('forge task history'))
    return { ...step, command: command.replace('history', 'histroy') };
  if (command.startsWith('forge graph')) {
    const edge = shown.find((line) => line.includes('-->'));
    return { ...step, shown: shown.map((line) => (line === edge ? line.replace('-->', '--x') : line)) };
  }
  // An id that no output has shown.
  if (command.startsWith('echo "$task" |')) return { ...step, command: 'forge task show fg-zzz9' };
  return step;
}

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
  await using tour = openTour({ folder: folder.path, env });
  const found = await tour.follow([
    step('git init --quiet shop && cd shop && forge init > ../log'),
    shown('forge task create "First"', 'Created task fg-a3f8: First'),
    step('forge task create "Second" --depends-on fg-a3f8 > ../log'),
    step('forge task create "Impossible" > ../log'),
    step(`{ ${loop?.lines.join('\n')}\n} > ../log`),
    shown('forge task list --all --json --fields title,status,state | cat', EXPECTED),
  ]);
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
