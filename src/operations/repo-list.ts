import { basename } from 'node:path';
import type { listRepos } from '#contract/resource-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';

export const repoList = implement<typeof listRepos>({
  async run({ project: { paths } }) {
    return [{ name: basename(paths.root), path: paths.root, primary: true }];
  },
  text: (repos) =>
    repos
      .map(
        ({ name, path, primary }) => `${escapeLine(name)}  ${escapeLine(path)}${primary ? '  primary' : ''}`,
      )
      .join('\n'),
});
