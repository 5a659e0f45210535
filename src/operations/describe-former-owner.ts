import { escapeLine } from '#kernel/text.ts';

/** One line for a person whose write ended the claim of another. */
export function describeFormerOwner({
  former_owner,
}: {
  readonly former_owner?: string | undefined;
}): string[] {
  return former_owner === undefined ? [] : [`It was ${escapeLine(former_owner)}'s until now`];
}
