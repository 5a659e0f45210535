import { boundText } from '#kernel/body-scan.ts';
import type { setSetting as declaration } from '#contract/home-operations.ts';
import { parseJson, type Json } from '#kernel/json.ts';
import { escapeLine } from '#kernel/text.ts';
import { changeSetting } from '#sync/change-setting.ts';
import { implement } from './operation.ts';

export const settingsSet = implement<typeof declaration>({
  async run({ place }, { key, value: text }) {
    const value = readValue(text);
    return { key, value, path: await changeSetting(place.home, key, value) };
  },
  text({ key, value, path }) {
    if (value === null) return escapeLine(`${key} is no longer set in ${path}`);
    return escapeLine(`${key} is ${JSON.stringify(value)} in ${path}`);
  },
});

/** A word is a word: a person does not quote `squash` twice. */
function readValue(text: string): Json {
  try {
    boundText(text, 'The value');
    return parseJson(text, 'the value');
  } catch {
    return text;
  }
}
