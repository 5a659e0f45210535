import { findSecrets } from '#domain/find-secrets.ts';
import type { OperationContext } from './operation.ts';

/** What is written is kept; a person at a command line hears at once that it will not be committed. */
export function warnOfSecrets({ host, stays, project }: OperationContext, input: object): void {
  if (stays === true || project.config.initMode === 'stealth') return;
  const names = findSecrets(JSON.stringify(input));
  if (names.length > 0)
    host.notice(`This holds what looks like ${names.join(' and ')}; no commit of the tasks will take it`);
}
