/**
 * Whether a git may run filters of the user's: it compares, reads or writes files of a working tree, or is given a path
 * to filter for. `rest` are the arguments after the command.
 */
export function runsFilters(command: string, rest: readonly string[]): boolean {
  const has = (...options: readonly string[]): boolean => options.some((option) => rest.includes(option));
  switch (command) {
    case 'ls-files':
      return has('--modified', '-m');
    case 'update-index':
      return !has('--index-info', '--cacheinfo', '--force-remove', '--skip-worktree');
    case 'read-tree':
      return has('-u');
    case 'hash-object':
      return !has('--no-filters') && (!has('--stdin') || rest.some((arg) => arg.startsWith('--path=')));
    case 'cat-file':
      return has('--filters');
    default:
      return OF_THE_TREE.has(command);
  }
}

const OF_THE_TREE: ReadonlySet<string> = new Set([
  'add',
  'checkout',
  'checkout-index',
  'diff-files',
  'reset',
  'restore',
  'status',
]);
