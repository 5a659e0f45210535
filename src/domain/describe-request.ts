import type { Approval } from '#contract/attempt.ts';
import { nameFiles } from '#kernel/name-files.ts';

/** What an agent asks for, whole: the command that it would run and where, or the files that it would touch. */
export function describeRequest({
  tool,
  input,
  command,
  paths,
}: Pick<Approval, 'tool' | 'input' | 'command' | 'paths'>): string {
  const where = paths.length === 0 ? '' : ` (at ${nameFiles(paths, paths.length)})`;
  if (command !== null) return `${tool === command ? command : `${tool}: ${command}`}${where}`;
  if (paths.length > 0) return `${tool} ${nameFiles(paths, paths.length)}`;
  const shown = input === undefined || input === null ? '' : (JSON.stringify(input) ?? '');
  return shown === '' || shown === '{}' ? tool : `${tool} ${shown}`;
}
