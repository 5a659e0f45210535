import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { openBareWorkshop, type OpenScenario } from './strace-scenarios.ts';
import { findLitter } from './strace-sweep.ts';

/** Files that are the user's as well. */
const SHARED_FILES = [
  '.gitignore',
  '.gitattributes',
  '.git/config',
  '.git/info/exclude',
  '.git/hooks/pre-commit',
  '.git/hooks/post-merge',
];

/**
 * `forge init` in a repository with files and a hook of its own. After a kill it is no project, or one that works; a
 * second init makes a whole one of it, or says that there is one already and is right.
 */
export async function initScenario(
  script: string,
  options: { readonly files: 'own' | 'none' },
): Promise<OpenScenario> {
  const shop = await openBareWorkshop(script);
  const { template, place, forge, git } = shop;
  writeFileSync(join(template, 'README'), 'Read me.\n');
  if (options.files === 'own') {
    writeFileSync(join(template, '.gitignore'), 'node_modules/\n*.log');
    writeFileSync(join(template, '.gitattributes'), '*.png binary\r\n');
    writeFileSync(join(template, '.git/hooks/pre-commit'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  }
  await git(template, 'add', '--all');
  await git(template, 'commit', '--quiet', '-m', 'base');
  const before = readShared(template);
  let after = before;
  let whole = '';
  return {
    place,
    template,
    start: (copy, tracer) => {
      const [program, ...words] = [...tracer, process.execPath, script, 'init'];
      return place.exec(program, words, { cwd: copy });
    },
    rehearse: async (copy) => {
      after = readShared(copy);
      whole = describeProject(copy);
    },
    async examine(copy) {
      const wrong: string[] = [];
      const expect = (holds: boolean, sentence: string): void => void (holds || wrong.push(sentence));
      for (const [name, text] of Object.entries(readShared(copy))) {
        const old = before[name];
        // Git changes its config in two steps; a file that was not there may be there and empty.
        const between =
          name === '.git/config' ? text?.startsWith(old ?? '') : old === undefined && text === '';
        expect(text === old || text === after[name] || between === true, `${name} is neither old nor new`);
      }
      const lock = join(copy, '.git', 'config.lock');
      const first = await forge(copy, 'task', 'list', '--json');
      const isProject = first.exit === 0;
      expect(isProject || first.stdout.includes('"not_a_project"'), `the next command: ${first.stdout}`);
      const again = await forge(copy, 'init', '--json');
      const isThere = again.stdout.includes('"already_exists"');
      expect(again.exit === 0 || (isProject && isThere), `a second init: ${again.stdout}${again.stderr}`);
      if (existsSync(lock)) {
        // It was git itself that was killed, and git never removes its lock. Forge says so and works without.
        expect(again.stdout.includes('config.lock'), `nothing is said of ${lock}: ${again.stdout}`);
        rmSync(lock);
        expect((await forge(copy, 'init')).exit === 0, 'a third init fails, without the lock');
      }
      const project = describeProject(copy);
      expect(project === whole, `not a whole project: ${difference(whole, project)}`);
      const made = await forge(copy, 'task', 'create', 'x');
      expect(made.exit === 0, `a task cannot be made: ${made.stderr}`);
      const exported = await forge(copy, 'export');
      expect(exported.exit === 0, `export fails: ${exported.stderr}`);
      const litter = findLitter(copy, ['.forge', '.git']);
      expect(litter.length === 0, `left behind: ${litter.join(', ')}`);
      return wrong;
    },
    [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
  };
}

function readShared(root: string): Record<string, string | undefined> {
  return Object.fromEntries(
    SHARED_FILES.map((name) => {
      const path = join(root, name);
      return [name, existsSync(path) ? readFileSync(path, 'latin1') : undefined];
    }),
  );
}

/** `program.json` is a short cut, which the next command that writes makes anew. */
const PASSING = /forge\.db-(wal|shm)$|^\.git\/forge\/program\.json/;

/** Another time, ids and inode with each. */
const OF_THIS_INIT =
  /"(?:created_at|projectId)": "[^"]*"|"(?:store_id|project_id|folder)":"[^"]*"|"inode":\d+/g;

/** All that belongs to a project, a line each, without what is another with each init. */
function describeProject(root: string): string {
  const shared = Object.entries(readShared(root)).map(([name, text]) => `${name}: ${JSON.stringify(text)}`);
  const own = ['.forge', '.git/forge'].flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) => {
          const path = join(entry.parentPath, entry.name);
          const name = relative(root, path);
          if (entry.isSymbolicLink()) return `${name} -> ${readlinkSync(path)}`;
          if (entry.isDirectory() || name.includes('forge.db')) return name;
          const text = readFileSync(path, 'utf8').replaceAll(OF_THIS_INIT, '');
          return `${name} ${(lstatSync(path).mode & 0o777).toString(8)}: ${JSON.stringify(text)}`;
        })
      : [],
  );
  return [...shared, ...own.filter((line) => !PASSING.test(line))].sort().join('\n');
}

function difference(wanted: string, found: string): string {
  const [a, b] = [wanted.split('\n'), found.split('\n')];
  const missing = a.filter((line) => !b.includes(line)).map((line) => `- ${line.slice(0, 120)}`);
  return [...missing, ...b.filter((line) => !a.includes(line)).map((line) => `+ ${line.slice(0, 120)}`)].join(
    '; ',
  );
}
