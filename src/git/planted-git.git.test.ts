import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { witness } from '../../tests/support/landing-witness.ts';
import {
  type AttemptPlace,
  attemptPlace,
  checkObjects,
  gitIn,
  openAttempts,
  writeIn,
} from '../../tests/support/attempt-places.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import { type Checkout } from './checkout-record.ts';
import { forecastConflicts } from './forecast-conflicts.ts';
import { landTarget } from './land-target.ts';
import { makeCandidate } from './merge-candidate.ts';
import { readDirty, removeCheckout, rescueCheckout, resetCheckout } from './rescue-checkout.ts';

/** Programs that note their names when they run. */
interface Canary {
  /** A command for a configuration. */
  command(name: string): string;
  /** A program by itself, for keys that take no arguments. */
  program(name: string): string;
  /** Of all that were planted. */
  readonly names: ReadonlySet<string>;
  /** Names of those that ran since the last look. */
  listRuns(): readonly string[];
}

function openCanary(folder: string): Canary {
  const ran = join(folder, 'ran');
  const program = join(folder, 'canary');
  writeFileSync(
    program,
    `#!/bin/sh\necho "$1" >> '${ran}'\ncase "$1" in clean|smudge) cat;; driver) exit 0;; esac\n`,
  );
  chmodSync(program, 0o755);
  const names = new Set<string>();
  return {
    names,
    command: (name) => {
      names.add(name);
      return `'${program}' ${name}`;
    },
    program: (name) => {
      names.add(name);
      const path = join(folder, `canary-${name}`);
      writeFileSync(path, `#!/bin/sh\n'${program}' ${name}\n`);
      chmodSync(path, 0o755);
      return path;
    },
    listRuns: () => {
      if (!existsSync(ran)) return [];
      const found = [...new Set(readFileSync(ran, 'utf8').trim().split('\n'))].sort();
      rmSync(ran);
      return found;
    },
  };
}

const HOOKS = [
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'post-checkout',
  'post-merge',
  'pre-push',
  'reference-transaction',
  'pre-receive',
  'update',
  'post-receive',
  'post-update',
  'push-to-checkout',
  'post-index-change',
  'pre-merge-commit',
  'post-rewrite',
  'fsmonitor-watchman',
];

function plantHooks(folder: string, canary: Canary, names: readonly string[] = HOOKS): void {
  mkdirSync(folder, { recursive: true });
  for (const name of names) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${canary.command(`hook:${name}`)}\n`);
    chmodSync(join(folder, name), 0o755);
  }
}

/** Every key that is known to name a program. */
function plantConfig(gitDir: string, canary: Canary): void {
  const lines = [
    ['core', ['fsmonitor', 'editor', 'pager', 'sshCommand', 'gitProxy', 'askPass', 'alternateRefsCommand']],
    ['filter "evil"', ['clean', 'smudge']],
    ['diff', ['external']],
    ['diff "evil"', ['textconv', 'command']],
    ['merge "evil"', ['driver']],
    ['credential', ['helper']],
    ['uploadpack', ['packObjectsHook']],
    ['alias', ['status', 'fetch', 'add']],
    ['sequence', ['editor']],
    ['interactive', ['diffFilter']],
  ] as const;
  const text = lines.map(([section, names]) => {
    const entries = names.map((name) => `\t${name} = ${JSON.stringify(canary.command(name))}\n`);
    return `[${section}]\n${entries.join('')}`;
  });
  const more = [
    `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${JSON.stringify(canary.program('gpg'))}\n`,
    '[filter "evil"]\n\trequired = true\n',
    `[remote "origin"]\n\turl = "ext::${canary.command('ext')}"\n\tpromisor = true\n[extensions]\n\tpartialClone = origin\n`,
    '[protocol "ext"]\n\tallow = always\n[include]\n\tpath = more\n',
  ];
  appendFileSync(join(gitDir, 'config'), text.join('') + more.join(''));
  writeFileSync(join(gitDir, 'more'), `[core]\n\thooksPath = ${join(gitDir, 'hooks')}\n`);
  mkdirSync(join(gitDir, 'info'), { recursive: true });
  writeFileSync(join(gitDir, 'info', 'attributes'), '* filter=evil diff=evil merge=evil\n');
}

function plant(checkout: Checkout, canary: Canary): void {
  const git = join(checkout.path, '.git');
  plantConfig(git, canary);
  plantHooks(join(git, 'hooks'), canary);
  writeIn(checkout, '.gitattributes', '* filter=evil diff=evil merge=evil\n');
}

async function withCanary(): Promise<AttemptPlace & { readonly canary: Canary }> {
  const world = await attemptPlace();
  await world.place.write('a.txt', '1\n2\n3\n4\n5\n');
  world.place.git('commit', '--quiet', '-a', '-m', 'lines');
  return Object.assign(world, { canary: openCanary(join(world.place.path, '..')) });
}

describe('what is planted in a checkout', () => {
  it('[E1] [E2] [E3] [E9] runs under plain git and under nothing of ours', async ({ annotate }) => {
    await using world = await withCanary();
    const { control, canary, place } = world;
    const [checkout, other] = [await world.start(), await world.start()];
    writeIn(other, 'a.txt', 'other\n2\n3\n4\n5\n');
    const second = await world.harvest(other);
    plant(checkout, canary);
    await annotate(`${canary.names.size} programs`);
    writeIn(checkout, 'a.txt', 'agent\n2\n3\n4\n5\n');
    // The canaries are alive: this is what a host that runs git in the checkout would do.
    const plain = (...args: string[]) => {
      try {
        gitIn(checkout, ...args);
      } catch {
        // Some of them end with an error, after they ran.
      }
    };
    plain('status');
    plain('diff');
    plain('add', 'a.txt');
    plain('commit', '-m', 'agent');
    plain('checkout', '-b', 'side');
    expect(canary.listRuns()).toEqual(
      expect.arrayContaining([
        'clean',
        'command',
        'fsmonitor',
        'hook:post-checkout',
        'gpg',
        'hook:pre-commit',
      ]),
    );
    // What they left must not disturb what comes.
    expect(await readDirty(control, checkout)).toContain('.gitattributes');
    const rescue = await rescueCheckout(control, checkout);
    expect(rescue?.ref).toMatch(/^refs\/forge\/rescue\//);
    const { head } = await world.harvest(checkout);
    expect(place.git('show', `${head}:a.txt`)).toContain('agent');
    const target = place.git('rev-parse', 'main');
    const forecast = await forecastConflicts(control, {
      target,
      heads: [
        { id: 'one', head },
        { id: 'two', head: second.head },
      ],
    });
    expect(forecast.pairs).toEqual([{ a: 'one', b: 'two', files: ['a.txt'] }]);
    for (const strategy of ['merge', 'squash', 'rebase'] as const) {
      const request = { target, head, base: checkout.base, strategy, message: 'merge' };
      expect(await makeCandidate(control, request)).toMatchObject({ kind: 'ready' });
      const into = { ...request, target: second.head };
      expect(await makeCandidate(control, into)).toMatchObject({ kind: 'conflict' });
    }
    writeIn(checkout, 'dirty.txt', 'dirty\n');
    expect(await resetCheckout(control, checkout)).toBeDefined();
    writeIn(checkout, 'more.txt', 'more\n');
    expect(await removeCheckout(control, checkout)).toMatchObject({ removed: true, rescue: {} });
    expect(canary.listRuns()).toEqual([]);
    expect(checkObjects(place)).toBe('');
  });

  it('[E4] runs neither from a bare repository in the tree nor from another attempt', async () => {
    await using world = await withCanary();
    const { canary, control } = world;
    const [checkout, other] = [await world.start(), await world.start()];
    plant(other, canary);
    const bare = join(checkout.path, 'bare');
    runTestGit(checkout.path, ['init', '--quiet', '--bare', bare]);
    plantConfig(bare, canary);
    plantHooks(join(bare, 'hooks'), canary);
    appendFileSync(join(bare, 'config'), '[core]\n\tworktree = ..\n\tbare = false\n');
    try {
      runTestGit(bare, ['status']);
    } catch {
      // As above.
    }
    expect(canary.listRuns()).toContain('fsmonitor');
    const { files } = await world.harvest(checkout);
    expect(files).toContain('bare/config');
    expect(await readDirty(control, checkout)).toEqual([]);
    expect(canary.listRuns()).toEqual([]);
  });

  it('[E6] does not run from a submodule whose git directory the agent wrote to', async () => {
    await using world = await withCanary();
    const { canary, place } = world;
    const source = join(place.path, '..', 'source');
    runTestGit('/', ['init', '--quiet', '-b', 'main', source]);
    writeFileSync(join(source, 'part.txt'), 'part\n');
    runTestGit(source, ['add', '.']);
    const me = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
    runTestGit(source, [...me, 'commit', '--quiet', '-m', 'part']);
    place.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'part');
    place.git('commit', '--quiet', '-m', 'submodule');
    const reopened = await openAttempts(place, { protocols: ['file'] });
    const checkout = await reopened.start({ submodules: 'top' });
    const modules = join(checkout.path, '.git', 'modules', 'part');
    plantConfig(modules, canary);
    plantHooks(join(modules, 'hooks'), canary);
    writeIn(checkout, 'part/part.txt', 'changed\n');
    try {
      gitIn(checkout, 'add', '-u');
    } catch {
      // As above.
    }
    expect(canary.listRuns()).toContain('fsmonitor');
    writeIn(checkout, 'b.txt', 'b\n');
    expect((await reopened.harvest(checkout)).files).toEqual(['b.txt']);
    const { rescue } = await removeCheckout(reopened.control, checkout);
    expect(place.git('show', `${rescue?.ref}:part/part.txt`)).toBe('changed');
    expect(canary.listRuns()).toEqual([]);
  });
});

describe('objects that lie elsewhere', () => {
  it.each<[string, (objects: string, elsewhere: string) => void]>([
    [
      'by alternates',
      (objects, elsewhere) => appendFileSync(join(objects, 'info', 'alternates'), `${elsewhere}\n`),
    ],
    [
      'by links',
      (objects, elsewhere) => {
        for (const name of readdirSync(elsewhere).filter((one) => one.length === 2)) {
          mkdirSync(join(objects, name), { recursive: true });
          for (const file of readdirSync(join(elsewhere, name)))
            symlinkSync(join(elsewhere, name, file), join(objects, name, file));
        }
      },
    ],
  ])('[E11] %s are copied, so that the user’s repository needs nothing of them', async (_name, lead) => {
    await using world = await withCanary();
    const { place } = world;
    const outside = join(place.path, '..', 'outside');
    runTestGit('/', ['init', '--quiet', '-b', 'main', outside]);
    writeFileSync(join(outside, 'theirs.txt'), 'theirs\n');
    runTestGit(outside, ['add', '.']);
    runTestGit(outside, ['-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'theirs']);
    const theirs = runTestGit(outside, ['rev-parse', 'HEAD']).trim();
    const checkout = await world.start();
    lead(join(checkout.path, '.git', 'objects'), join(outside, '.git', 'objects'));
    gitIn(checkout, 'merge', '--quiet', '--allow-unrelated-histories', '-m', 'joined', theirs);
    writeIn(checkout, 'mine.txt', 'mine\n');
    const { head } = await world.harvest(checkout);
    await removeCheckout(world.control, checkout);
    rmSync(outside, { recursive: true });
    expect(place.git('show', `${head}:theirs.txt`)).toBe('theirs');
    const objects = join(place.path, '.git', 'objects');
    expect(existsSync(join(objects, 'info', 'alternates'))).toBe(false);
    const entries = readdirSync(objects, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isSymbolicLink())).toEqual([]);
    expect(checkObjects(place)).toBe('');
  });
});

describe("what stands in the user's repository", () => {
  it('[E1] [E2] [E3] has its hooks and monitor run by git worktree, and by an attempt its filters alone', async () => {
    await using world = await withCanary();
    const { canary, place } = world;
    plantConfig(join(place.path, '.git'), canary);
    plantHooks(join(place.path, '.git', 'hooks'), canary);
    place.git('-c', 'commit.gpgSign=false', '-c', 'core.hooksPath=/dev/null', 'branch', 'spare');
    canary.listRuns();
    place.git('worktree', 'add', '--quiet', join(place.path, '..', 'linked'), 'spare');
    expect(canary.listRuns()).toEqual(
      expect.arrayContaining(['hook:post-checkout', 'hook:reference-transaction', 'smudge']),
    );
    const reopened = await openAttempts(place);
    const checkout = await reopened.start();
    writeIn(checkout, 'b.txt', 'b\n');
    const { head } = await reopened.harvest(checkout);
    gitIn(checkout, 'status');
    // The filters are the user's, and what they have to do with a file is done.
    expect(canary.listRuns()).toEqual(['clean', 'smudge']);
    // The user's own checkout is the user's: its filters run when it gets new files, its hooks do not.
    const old = place.git('rev-parse', 'main');
    canary.listRuns();
    expect(await landTarget(place.repo, { branch: 'main', old, commit: head, witness })).toEqual({
      kind: 'landed',
    });
    expect(canary.listRuns().filter((name) => !['clean', 'smudge'].includes(name))).toEqual([]);
  });
});
