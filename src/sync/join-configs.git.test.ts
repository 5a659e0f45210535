import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { gitPlace, type GitPlace } from '../../tests/support/git-places.ts';
import { joinConfigs } from './join-configs.ts';
import { toProjectPaths } from './project-paths.ts';

const CONFIG = {
  name: 'a',
  idPrefix: 'fg',
  version: 1,
  created_at: '2026-01-01T00:00:00.000Z',
  initMode: 'branch',
  branchName: 'forge-data',
};
const toText = (more: object): string => `${JSON.stringify({ ...CONFIG, ...more }, null, 2)}\n`;

async function commitConfig(place: GitPlace, text: string): Promise<string> {
  await place.write('.forge/config.json', text);
  place.git('add', '.');
  place.git('commit', '--quiet', '--allow-empty', '-m', 'config');
  return place.git('rev-parse', 'HEAD');
}

it.each([
  ['nothing was changed here: as the remote has it', {}, {}, { name: 'b' }, { name: 'b' }],
  ['only this clone changed it', {}, { name: 'c' }, {}, { name: 'c' }],
  [
    'both changed it, other keys',
    {},
    { settings: { defaultPriority: 1 } },
    { name: 'b' },
    { name: 'b', settings: { defaultPriority: 1 } },
  ],
  ['both changed the same key: what was asked for here', {}, { name: 'c' }, { name: 'b' }, { name: 'c' }],
  ['a key was taken out here', { settings: {} }, {}, { settings: {}, name: 'b' }, { name: 'b' }],
  ['another mode at the remote is not followed', {}, {}, { initMode: 'standard' }, {}],
])('%s', async (_, base, mine, theirs, wanted) => {
  await using place = await gitPlace();
  const paths = toProjectPaths(place.repo);
  mkdirSync(paths.store_dir, { recursive: true });
  const tips = {
    ours: await commitConfig(place, toText(base)),
    theirs: await commitConfig(place, toText(theirs)),
  };
  for (const path of [paths.config, paths.shared_config]) writeFileSync(path, toText(mine));
  const { text: joined } = await joinConfigs(paths, place.repo, tips);
  expect(JSON.parse(joined?.toString('utf8') ?? '')).toEqual({ ...CONFIG, ...wanted });
  for (const path of [paths.config, paths.shared_config])
    expect(readFileSync(path, 'utf8')).toBe(joined?.toString('utf8'));
});

it('what this clone committed while it was away stands, and a value that loses is named', async () => {
  await using place = await gitPlace();
  const paths = toProjectPaths(place.repo);
  mkdirSync(paths.store_dir, { recursive: true });
  const base = await commitConfig(place, toText({ settings: { defaultPriority: 2 } }));
  const mine = toText({ name: 'mine', settings: { defaultPriority: 4 } });
  const ours = await commitConfig(place, mine);
  place.git('checkout', '--quiet', '--detach', base);
  const theirs = await commitConfig(place, toText({ settings: { defaultPriority: 1 }, other: 'theirs' }));
  for (const path of [paths.config, paths.shared_config]) writeFileSync(path, mine);
  const { text, lost } = await joinConfigs(paths, place.repo, { theirs, ours });
  expect(JSON.parse(text?.toString('utf8') ?? '')).toEqual({
    ...CONFIG,
    name: 'mine',
    other: 'theirs',
    settings: { defaultPriority: 4 },
  });
  expect(lost).toEqual([{ key: 'settings', stands: { defaultPriority: 4 }, lost: { defaultPriority: 1 } }]);
});

it('a clone that never committed takes what is there, and without a remote keeps its own', async () => {
  await using place = await gitPlace();
  const paths = toProjectPaths(place.repo);
  mkdirSync(paths.store_dir, { recursive: true });
  const theirs = await commitConfig(place, toText({ name: 'b' }));
  writeFileSync(`${place.path}/.forge/config.json`, toText({}));
  const join = async (given: string | undefined): Promise<string | undefined> =>
    (await joinConfigs(paths, place.repo, { theirs: given, ours: undefined })).text?.toString('utf8');
  expect(await join(undefined)).toBe(toText({}));
  expect(await join(theirs)).toBe(toText({ name: 'b' }));
});
