import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { gitPlace, type GitPlace } from '../../tests/support/git-places.ts';
import { adoptWorkflow, joinWorkflows } from './join-workflows.ts';
import { toProjectPaths, type ProjectPaths } from './project-paths.ts';

/** A workflow whose active state has this name. */
const flow = (active: string, indent = 2): string =>
  `${JSON.stringify(
    {
      states: [
        { name: 'todo', kind: 'initial', next: [active] },
        { name: active, kind: 'active', next: ['done'] },
        { name: 'done', kind: 'terminal' },
        { name: 'cancelled', kind: 'terminal' },
      ],
    },
    null,
    indent,
  )}\n`;
const BROKEN = '{ "states": [] }\n';

/** A commit with this workflow, or without one, on top of `parent`; null begins a history. */
async function commitWorkflow(
  place: GitPlace,
  text: string | undefined,
  parent: string | null,
): Promise<string> {
  if (parent === null)
    place.git('checkout', '--quiet', '--orphan', `b${place.git('rev-list', '--all', '--count')}`);
  else place.git('checkout', '--quiet', '--detach', parent);
  const path = join(place.path, '.forge/workflow.json');
  rmSync(path, { force: true });
  if (text !== undefined) await place.write('.forge/workflow.json', text);
  place.git('add', '--all', '.');
  place.git('commit', '--quiet', '--allow-empty', '-m', text === undefined ? 'none' : text.slice(0, 200));
  return place.git('rev-parse', 'HEAD');
}

interface Sides {
  readonly base?: string;
  readonly mine?: string;
  readonly theirs?: string;
  /** What this clone has committed already, where that is not the base. */
  readonly ours?: string;
}

async function joinSides(place: GitPlace, sides: Sides) {
  const base = await commitWorkflow(place, sides.base, null);
  const ours = sides.ours === undefined ? base : await commitWorkflow(place, sides.ours, base);
  const theirs = sides.theirs === sides.base ? base : await commitWorkflow(place, sides.theirs, base);
  const paths = toProjectPaths(place.repo);
  mkdirSync(paths.store_dir, { recursive: true });
  mkdirSync(paths.forge_dir, { recursive: true });
  putOwn(paths, sides.mine);
  const joined = await joinWorkflows(paths, place.repo, { theirs, ours });
  const path = join(paths.forge_dir, 'workflow.json');
  return { joined, base, theirs, here: existsSync(path) ? readFileSync(path, 'utf8') : undefined };
}

function putOwn(paths: ProjectPaths, text: string | undefined): void {
  const path = join(paths.forge_dir, 'workflow.json');
  if (text === undefined) rmSync(path, { force: true });
  else writeFileSync(path, text);
}

const [A, B, C] = [flow('a'), flow('b'), flow('c')];

it.each<[string, Sides, string, string | undefined]>([
  ['nobody has one', {}, 'same', undefined],
  ['both have the same', { base: A, mine: A, theirs: A }, 'same', A],
  ['written in another way it is the same', { base: A, mine: flow('a', 0), theirs: A }, 'same', A],
  ['only this clone has one', { mine: A }, 'sent', A],
  ['this clone changed it', { base: A, mine: B, theirs: A }, 'sent', B],
  ['the remote changed it', { base: A, mine: A, theirs: B }, 'taken', B],
  ['a clone without one takes what is there', { theirs: B }, 'taken', B],
  ['both changed it', { base: A, mine: B, theirs: C }, 'conflict', B],
  [
    'both changed it, and this clone has committed its own',
    { base: A, ours: B, mine: B, theirs: C },
    'conflict',
    B,
  ],
  ['both made one', { mine: B, theirs: C }, 'conflict', B],
  ['one of them went back to the built-in one', { base: A, mine: '{}\n', theirs: A }, 'sent', '{}\n'],
  ['the remote’s is no workflow', { base: A, mine: A, theirs: BROKEN }, 'broken_there', BROKEN],
  ['this clone’s is no workflow', { base: A, mine: BROKEN, theirs: A }, 'broken_here', undefined],
])('%s', async (_, sides, outcome, text) => {
  await using place = await gitPlace();
  const { joined, here } = await joinSides(place, sides);
  expect([joined.outcome, joined.text]).toEqual([outcome, text]);
  const isKept = outcome !== 'taken' && sides.mine !== undefined;
  expect(here).toBe(isKept ? sides.mine : outcome === 'taken' ? text : undefined);
});

it('the version that does not stand is named, and git can show it', async () => {
  await using place = await gitPlace();
  const conflict = await joinSides(place, { base: A, mine: B, theirs: C });
  expect(`${place.git('show', conflict.joined.other ?? '')}\n`).toBe(C);
});

it('what was there before the remote’s was taken is named too', async () => {
  await using place = await gitPlace();
  const taken = await joinSides(place, { base: A, mine: A, theirs: B });
  expect(`${place.git('show', taken.joined.other ?? '')}\n`).toBe(A);
});

it('a clone that has none takes the one of a commit, and keeps what it has otherwise', async () => {
  await using place = await gitPlace();
  const rev = await commitWorkflow(place, B, null);
  const broken = await commitWorkflow(place, BROKEN, null);
  const paths = toProjectPaths(place.repo);
  const path = join(paths.forge_dir, 'workflow.json');
  putOwn(paths, undefined);
  await adoptWorkflow(paths, place.repo, broken);
  expect(existsSync(path)).toBe(false);
  await adoptWorkflow(paths, place.repo, rev);
  expect(readFileSync(path, 'utf8')).toBe(B);
  writeFileSync(path, C);
  await adoptWorkflow(paths, place.repo, rev);
  expect(readFileSync(path, 'utf8')).toBe(C);
});
