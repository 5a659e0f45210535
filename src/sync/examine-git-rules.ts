import { findProtectiveHooks } from '#git/protective-hooks.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Finding } from './examine-project.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { describePush, listPushRecords } from './push-records.ts';

/** Hooks of the user's that git would run on the way of an attempt to its target, and Forge does not. */
export async function examineForeignHooks(paths: ProjectPaths, machine: Machine): Promise<Finding[]> {
  const hooks = await findProtectiveHooks(toGitRepo(paths.root, machine)).catch(toUnknown);
  if (hooks === undefined || hooks.not_run.length + hooks.asked.length === 0) return [];
  const { asked, not_run, folder } = hooks;
  const names = [
    ...(asked.length === 0 ? [] : [`a merge of Forge asks ${asked.join(', ')}`]),
    ...(not_run.length === 0 ? [] : [`attempts and merges do not run ${not_run.join(', ')}`]),
  ];
  const message = `${names.join('; ')} (${folder})`;
  const state = not_run.length === 0 ? 'ok' : 'warning';
  const hint = not_run.length === 0 ? null : 'Put what they check into review.ci_steps of .forge/config.json';
  return [{ name: 'your hooks', state, message, hint }];
}

/** Landings that were not pushed, although `merge.push` says so. */
export async function examinePushes(paths: ProjectPaths, machine: Machine): Promise<Finding[]> {
  const repo = toGitRepo(paths.root, machine);
  const findings: Finding[] = [];
  for (const record of listPushRecords(paths.store_dir)) {
    const message = await describePush(repo, record).catch(toUnknown);
    if (message !== undefined) findings.push({ name: 'push', state: 'warning', message, hint: record.next });
  }
  return findings;
}

/** Where git does not answer another finding says so. */
function toUnknown(error: unknown): undefined {
  if (!isForgeError(error)) throw error;
  return undefined;
}
