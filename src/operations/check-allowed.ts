import { parsePrefix } from '#domain/match-command.ts';
import { ForgeError } from '#kernel/errors.ts';

/** Throws invalid_input for what is not the beginning of one command. */
export function checkAllowed(texts: readonly string[] = []): void {
  const wrong = texts.find((text) => text.trim() !== '' && parsePrefix(text) === undefined);
  if (wrong === undefined) return;
  throw new ForgeError('invalid_input', `${JSON.stringify(wrong)} is not the beginning of one command`, {
    hint: 'Plain words, such as --allow "npm test"; no pipes, variables, redirections or several commands',
    details: { allow: wrong },
  });
}
