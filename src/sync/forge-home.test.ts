import { mkdirSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { findForgeHome, isForgeHome } from './forge-home.ts';

it('[S120] knows the home by environment and default, through links, and before it exists', async () => {
  await using folder = await tempFolder();
  const home = join(folder.path, 'ada');
  const other = join(folder.path, 'other');
  mkdirSync(home);
  mkdirSync(join(other, '.forge'), { recursive: true });
  symlinkSync(other, join(folder.path, 'alias'));
  symlinkSync(join(other, '.forge'), join(folder.path, 'linked'));

  expect(isForgeHome(join(home, '.forge'), {}, home)).toBe(true);
  expect(isForgeHome(join(home, '.forge'), { FORGE_HOME: '' }, home)).toBe(true);
  expect(isForgeHome(join(other, '.forge'), {}, home)).toBe(false);

  for (const place of ['other/.forge', 'alias/.forge', 'linked']) {
    const env = { FORGE_HOME: join(folder.path, place) };
    expect(isForgeHome(join(other, '.forge'), env, home)).toBe(true);
    expect(isForgeHome(join(home, '.forge'), env, home)).toBe(false);
  }
  expect(
    isForgeHome(join(other, '.forge'), { FORGE_HOME: relative(process.cwd(), join(other, '.forge')) }, home),
  ).toBe(true);

  mkdirSync(join(folder.path, 'data'));
  const env = { XDG_DATA_HOME: join(folder.path, 'data') };
  expect(isForgeHome(join(folder.path, 'data', 'forge'), env, home)).toBe(true);
  symlinkSync(join(other, '.forge'), join(folder.path, 'data', 'forge'));
  expect(isForgeHome(join(other, '.forge'), env, home)).toBe(true);
  expect(isForgeHome(join(home, '.forge'), env, home)).toBe(true);
});

it('[S334] the home is FORGE_HOME, a ~/.forge that is there, XDG_DATA_HOME, or ~/.forge, in this order', async () => {
  await using folder = await tempFolder();
  const home = join(folder.path, 'ada');
  const data = join(folder.path, 'data');
  mkdirSync(home);
  expect(findForgeHome({}, home)).toBe(join(home, '.forge'));
  expect(findForgeHome({ XDG_DATA_HOME: data }, home)).toBe(join(data, 'forge'));
  expect(findForgeHome({ XDG_DATA_HOME: '' }, home)).toBe(join(home, '.forge'));
  expect(findForgeHome({ XDG_DATA_HOME: 'not/absolute' }, home)).toBe(join(home, '.forge'));
  expect(findForgeHome({ FORGE_HOME: '/f', XDG_DATA_HOME: data }, home)).toBe('/f');
  expect(findForgeHome({ FORGE_HOME: 'here' }, home)).toBe(join(process.cwd(), 'here'));
  mkdirSync(join(home, '.forge'));
  expect(findForgeHome({ XDG_DATA_HOME: data }, home)).toBe(join(home, '.forge'));
  expect(findForgeHome({ FORGE_HOME: '/f', XDG_DATA_HOME: data }, home)).toBe('/f');
});

it('[S120] every place that findForgeHome can answer is known as the home', async () => {
  await using folder = await tempFolder();
  const home = join(folder.path, 'ada');
  mkdirSync(home);
  for (const env of [
    {},
    { XDG_DATA_HOME: join(folder.path, 'data') },
    { FORGE_HOME: join(folder.path, 'f') },
  ]) {
    expect(isForgeHome(findForgeHome(env, home), env, home)).toBe(true);
    mkdirSync(findForgeHome(env, home), { recursive: true });
    expect(isForgeHome(findForgeHome(env, home), env, home)).toBe(true);
  }
});
