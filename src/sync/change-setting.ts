import { join } from 'node:path';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { escapeLine } from '#kernel/text.ts';
import { changeHomeFile, parseHomeObject } from './home-file.ts';
import { checkPersonal, listSettingKeys, SETTINGS_FILE } from './work-settings.ts';

/**
 * Writes one of the person's own settings; null takes it away. What else the file says stays. Throws invalid_input for a
 * key that is not known or a value that is not allowed, with the file as it was.
 */
export async function changeSetting(home: string, key: string, value: Json): Promise<string> {
  const path = join(home, SETTINGS_FILE);
  const at = key.indexOf('.');
  const [section, name] = [key.slice(0, at), key.slice(at + 1)];
  const isKnown = listSettingKeys().includes(key) || (section === 'prices' && name !== '');
  if (at <= 0 || !isKnown) throw toUnknownKey(key);
  await changeHomeFile(home, SETTINGS_FILE, (text) => {
    const before = text === undefined || text === '' ? {} : parseHomeObject(text, path);
    const held = before[section];
    const rest = Object.entries(isObject(held) ? held : {}).filter(([one]) => one !== name);
    const inside = Object.fromEntries(value === null ? rest : [...rest, [name, value]]);
    const after = { ...before, [section]: inside };
    const fault = findFault(path, after);
    if (fault !== undefined)
      throw findFault(path, before) === undefined ? toRefusedWish(fault, { key, value }) : fault;
    return { text: `${JSON.stringify(after, null, 2)}\n`, answer: undefined };
  });
  return path;
}

/** What is wrong with the wish stands in no file yet, so there is nothing to correct there. */
function toRefusedWish(error: unknown, { key, value }: { key: string; value: Json }): unknown {
  const allowed = isForgeError(error) ? error.details['allowed'] : undefined;
  if (typeof allowed !== 'string') return error;
  const shown = escapeLine(JSON.stringify(value).slice(0, SHOWN));
  return new ForgeError('invalid_input', `${key} cannot be ${shown}: nothing was written`, {
    hint: `Allowed is ${allowed}`,
    details: { key, allowed },
  });
}

function findFault(path: string, values: JsonObject): unknown {
  try {
    checkPersonal(path, values);
    return undefined;
  } catch (error) {
    return error;
  }
}

const SHOWN = 60;

export function toUnknownKey(key: string): ForgeError {
  const keys = listSettingKeys();
  const meant = keys.find((one) => toLetters(one) === toLetters(key));
  const beside = keys.filter((one) => one.startsWith(`${key.split('.')[0] ?? ''}.`));
  const sections = [...new Set(keys.map((one) => one.split('.')[0]))].concat('prices');
  const known = beside.length > 0 ? beside.join(', ') : `The sections are ${sections.join(', ')}`;
  return new ForgeError('invalid_input', `There is no setting ${key}`, {
    hint: meant === undefined ? known : `Did you mean ${meant}?`,
    details: { key },
  });
}

/** `budgetUsd` and `budget-usd` are meant for `budget_usd`. */
function toLetters(key: string): string {
  return key.toLowerCase().replace(/[^a-z]/g, '');
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
