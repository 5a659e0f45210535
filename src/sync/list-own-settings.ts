import { join } from 'node:path';
import type { Json } from '#kernel/json.ts';
import { toUnknownKey } from './change-setting.ts';
import { parseHomeObject, readHomeFile } from './home-file.ts';
import { listSettingKeys, SETTINGS_FILE } from './work-settings.ts';

export interface OwnSetting {
  readonly key: string;
  /** Null where it is not set. */
  readonly value: Json;
}

/**
 * What the person has set for all projects, in the order of the keys; with `all` also what could be set. `key` is one
 * setting, which is answered also where it is not set, or a section. Throws invalid_input for one that is not known.
 */
export function listOwnSettings(
  home: string,
  { key, all }: { readonly key?: string | undefined; readonly all: boolean },
): OwnSetting[] {
  const text = readHomeFile(home, SETTINGS_FILE);
  const written = text === undefined || text === '' ? {} : parseHomeObject(text, join(home, SETTINGS_FILE));
  const set = new Map<string, Json>();
  for (const [section, values] of Object.entries(written))
    if (typeof values === 'object' && values !== null && !Array.isArray(values))
      for (const [name, value] of Object.entries(values)) set.set(`${section}.${name}`, value);
  const known = listSettingKeys();
  const isOne = key !== undefined && (known.includes(key) || set.has(key));
  const isSection =
    key !== undefined && [...known, ...set.keys(), 'prices.'].some((one) => one.startsWith(`${key}.`));
  if (key !== undefined && !isOne && !isSection) throw toUnknownKey(key);
  const keys = new Set([...(all || isOne ? known : []), ...set.keys()]);
  return [...keys]
    .filter((one) => key === undefined || one === key || one.startsWith(`${key}.`))
    .toSorted()
    .map((one) => ({ key: one, value: set.get(one) ?? null }));
}
