import type { Approval } from '#contract/attempt.ts';

/** What an agent asks for, whole: the command that it would run and where, or the files that it would touch. */
export function describeRequest({
  tool,
  input,
  command,
  paths,
}: Pick<Approval, 'tool' | 'input' | 'command' | 'paths'>): string {
  const where = paths.length === 0 ? '' : ` (at ${paths.join(', ')})`;
  if (command !== null) return `${tool === command ? command : `${tool}: ${command}`}${where}`;
  if (paths.length > 0) return `${tool} ${paths.join(', ')}`;
  const shown = input === undefined || input === null ? '' : (JSON.stringify(input) ?? '');
  return shown === '' || shown === '{}' ? tool : `${tool} ${shown}`;
}
