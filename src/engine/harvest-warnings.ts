import type { Attempt } from '#contract/attempt.ts';
import type { Harvest } from '#git/harvest-checkout.ts';
import { quoteName } from '#kernel/name-files.ts';
import { escapeLine } from '#kernel/text.ts';

const BRANCHES = {
  moved: undefined,
  missing: 'was deleted in the repository',
  elsewhere: 'was moved in the repository',
  checked_out: 'is checked out elsewhere, and stays where it is',
} as const;

/** What somebody did with git in an attempt's folder, or to its branch, that a person should know of. Nothing is lost by it. */
export function listHarvestWarnings(harvest: Harvest, { branch }: Pick<Attempt, 'branch'>): string[] {
  const { strayed, salvaged, flattened, rescued, skipped, left_out, unfiltered, unsigned, pipes } = harvest;
  const moved = BRANCHES[harvest.branch];
  return [
    ...(strayed === undefined ? [] : [`Its worktree was ${strayed}, and is on ${branch} again`]),
    ...(salvaged === undefined
      ? []
      : [`The commits of its worktree are lost (${salvaged}), its files are not`]),
    ...(flattened === undefined
      ? []
      : [`The commits of its worktree were not taken (${flattened}); its files are one commit instead`]),
    ...left_out.map(
      (why) => `Commits of its worktree that ${branch} does not lead to were not taken (${why})`,
    ),
    ...[...unfiltered].map(
      ([name, path]) =>
        `${quoteName(path)} is under filter=${quoteName(name)}, which this clone does not configure; it was committed as it is`,
    ),
    ...(unsigned === undefined ? [] : [`Its commit is not signed: ${unsigned}`]),
    ...(rescued.length === 0
      ? []
      : [`Commits that ${branch} does not lead to are kept: ${rescued.join(', ')}`]),
    ...(moved === undefined ? [] : [`${branch} ${moved}; the work is kept all the same`]),
    ...pipes.map((path) => `${quoteName(path)} was a pipe, for which git would have waited, and was removed`),
    ...skipped.map(({ path }) => `${quoteName(path)} is too large and was not committed`),
  ].map(escapeLine);
}

/** One after the other; null where there is none. */
export function joinSentences(texts: readonly (string | null | undefined)[]): string | null {
  const said = texts.filter((text) => typeof text === 'string' && text !== '');
  return said.length === 0 ? null : said.join('. ');
}
