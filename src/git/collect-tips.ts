import { existsSync } from 'node:fs';
import { ForgeError } from '#kernel/errors.ts';
import { getFromGit } from './ask-git.ts';
import { findFact } from './attempt-git-folder.ts';
import { type Checkout, findRecord, isRegistered, writeRecord } from './checkout-record.ts';
import { readTips, type Tips } from './checkout-tips.ts';
import type { ControlGit } from './control-directory.ts';
import { dropPipes } from './drop-pipes.ts';
import { type Fetched, fetchTips } from './fetch-tips.ts';
import { resolvePlace } from './guard-place.ts';
import type { PlainSecret } from './plain-secrets.ts';

/** The commits of a checkout that are now among the user's objects. */
export interface Collected extends Tips {
  readonly head: string;
  /** Set where the checkout's own commits could not be had: `head` is then what was harvested last. */
  readonly salvaged?: string;
  /** Set where its own commits must not be had: `head` is what was harvested last, and the files are all that comes. */
  readonly flattened?: string;
  /** Commits apart from HEAD that must not be had, and why. */
  readonly left_out: readonly string[];
  /** Secrets that were found in the commits, whether these could be had or not. */
  readonly secrets: readonly PlainSecret[];
}

/**
 * Brings what the checkout's git directory holds among the user's objects. One that was deleted or spoilt loses
 * nothing but its history: the files are still there to be committed on top of what was harvested last.
 */
export async function collectTips(
  control: ControlGit,
  checkout: Checkout,
  known: string,
): Promise<Collected> {
  const tips = await readTips(checkout);
  if (tips.head === undefined) return toSalvaged(known, 'its git directory has no HEAD');
  const { head } = tips;
  const all = [...new Set([head, ...tips.others, ...tips.merging])];
  const wanted = all.filter((oid) => oid !== known && oid !== checkout.base);
  if (wanted.length === 0) return { ...tips, head, left_out: [], secrets: [] };
  const fetched = await fetchTips(control, checkout, { tips: wanted, known });
  if (fetched.kind === 'fetched')
    return toCommits(control, { ...tips, left_out: [], secrets: fetched.secrets }, known);
  return collectOneByOne(control, checkout, { tips: { ...tips, head }, known, wanted });
}

/** One that is broken, or that must not come, must not take the others with it. */
async function collectOneByOne(
  control: ControlGit,
  checkout: Checkout,
  work: {
    readonly tips: Tips & { readonly head: string };
    readonly known: string;
    readonly wanted: readonly string[];
  },
): Promise<Collected> {
  const { tips, known, wanted } = work;
  const results = new Map<string, Fetched>();
  for (const oid of wanted) results.set(oid, await fetchTips(control, checkout, { tips: [oid], known }));
  const isHere = (oid: string): boolean => (results.get(oid)?.kind ?? 'fetched') === 'fetched';
  const head = results.get(tips.head);
  const left_out = tips.others
    .filter((oid) => oid !== tips.head)
    .flatMap((oid) => toReason(results.get(oid)) ?? []);
  const secrets = [...results.values()].flatMap((one) => (one.kind === 'broken' ? [] : one.secrets));
  const rest = { others: tips.others.filter(isHere), remotes: tips.remotes, left_out, secrets };
  const merging = tips.merging.filter(isHere);
  if (head?.kind === 'broken') return { ...toSalvaged(known, head.why), secrets };
  if (head?.kind !== 'unfit') return toCommits(control, { ...rest, head: tips.head, merging }, known);
  const onto = [...new Set([...merging, ...head.onto])];
  const collected = await toCommits(control, { ...rest, head: known, merging: onto }, known);
  return { ...collected, flattened: head.why };
}

function toReason(fetched: Fetched | undefined): string | undefined {
  return fetched?.kind === 'unfit' ? fetched.why : undefined;
}

function toSalvaged(known: string, why: string): Collected {
  return { head: known, others: [], remotes: [], merging: [], salvaged: why, left_out: [], secrets: [] };
}

/** A ref can name anything; what is no commit is of no use. */
async function toCommits(
  control: ControlGit,
  tips: Tips & Pick<Collected, 'left_out' | 'secrets'>,
  known: string,
): Promise<Collected> {
  const all = [...new Set([tips.head ?? known, ...tips.others, ...tips.merging])];
  const input = `${all.join('\n')}\n`;
  const text = await getFromGit(control, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input,
  });
  const commits = new Set([...text.matchAll(/^([0-9a-f]+) commit$/gm)].map(([, oid]) => oid));
  if (tips.head === undefined || !commits.has(tips.head))
    return toSalvaged(known, 'its HEAD is not a commit');
  return {
    ...tips,
    head: tips.head,
    others: tips.others.filter((oid) => commits.has(oid)),
    merging: tips.merging.filter((oid) => commits.has(oid)),
  };
}

/** By what was noted when it was made; where that was lost, by what the folder says of itself. */
function isOwn(control: ControlGit, checkout: Checkout): boolean {
  if (isRegistered(control, checkout)) return true;
  if (findRecord(control, checkout.attempt_id) !== undefined) return false;
  if (findFact(checkout, 'attempt') !== checkout.attempt_id) return false;
  writeRecord(control, checkout);
  return true;
}

/**
 * The folder that was made, where it was made, with nothing in it that git would wait for: gives what was removed for
 * that. Throws not_found where it is gone, permission_denied for any other.
 */
export function checkCheckout(control: ControlGit, checkout: Checkout): readonly string[] {
  const place = resolvePlace(checkout.root, checkout.path);
  if (!existsSync(place)) {
    throw new ForgeError(
      'not_found',
      `The checkout ${checkout.path} of attempt ${checkout.attempt_id} is gone`,
      {
        hint: 'Its branch is still there: resume the attempt to make the folder again',
        details: { attempt: checkout.attempt_id, path: checkout.path },
      },
    );
  }
  if (place === checkout.path && isOwn(control, checkout))
    return dropPipes(checkout, { trusted: control.objects });
  throw new ForgeError(
    'permission_denied',
    `${checkout.path} is not the folder of attempt ${checkout.attempt_id}`,
    {
      hint: 'Somebody put another folder there; it is left as it is',
      details: { attempt: checkout.attempt_id, path: checkout.path },
    },
  );
}
