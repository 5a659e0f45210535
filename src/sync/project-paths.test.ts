import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toProjectPaths } from './project-paths.ts';

it('keeps the branch’s files in the worktree and the store in the common directory', () => {
  const common = join('/', 'work', 'main', '.git');
  const repository = { worktree: join('/', 'work', 'linked'), git_dir: join(common, 'worktrees', 'linked') };
  expect(toProjectPaths({ ...repository, common_dir: common })).toEqual({
    root: join('/', 'work', 'linked'),
    forge_dir: join('/', 'work', 'linked', '.forge'),
    common_dir: common,
    store_dir: join(common, 'forge'),
    store: { folder: join(common, 'forge') },
    config: join('/', 'work', 'linked', '.forge', 'config.json'),
    shared_config: join(common, 'forge', 'config.json'),
  });
});
