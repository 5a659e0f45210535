import { join } from 'node:path';
import { type Checkout, toRecordFolder } from './checkout-record.ts';
import type { ControlGit } from './control-directory.ts';
import { readTextIfThere, replaceFile } from './replace-file.ts';

/**
 * Commits of the agent that live on under other ids, because trailers were added to them. Other branches of the
 * checkout may still stand at them, and nothing is lost when those go.
 */
export function listDisowned(control: ControlGit, checkout: Checkout): readonly string[] {
  return (readTextIfThere(toFile(control, checkout)) ?? '').split('\n').filter((line) => line !== '');
}

export function noteDisowned(control: ControlGit, checkout: Checkout, commits: readonly string[]): void {
  if (commits.length === 0) return;
  const all = new Set([...listDisowned(control, checkout), ...commits]);
  replaceFile(toFile(control, checkout), `${[...all].join('\n')}\n`);
}

function toFile(control: ControlGit, checkout: Checkout): string {
  return join(toRecordFolder(control, checkout.attempt_id), 'disowned');
}
