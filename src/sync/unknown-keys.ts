import { join } from 'node:path';
import { findClosestWord } from '#kernel/closest-word.ts';
import { LIMITS } from '#kernel/limits.ts';
import { parseSettingsObject, readHomeFile } from './home-file.ts';
import type { ProjectPaths } from './project-paths.ts';
import { listSettingKeys, listSettingsFiles } from './work-settings.ts';

/** A key that Forge does not read: a typo, one of a newer Forge, or one of a team's own. It is no fault. */
export interface UnknownKey {
  readonly path: string;
  readonly key: string;
  /** The one of this file that it was most likely meant for. */
  readonly meant: string | undefined;
}

/** Of `.forge/config.json`, besides the settings of work; see `parseProjectConfig`. */
const PROJECT_KEYS = [
  'name',
  'idPrefix',
  'projectId',
  'version',
  'created_at',
  'settings.defaultPriority',
  'settings.defaultType',
  'settings.gcOnExport',
  'ready.excludeTypes',
  'initMode',
  'branchName',
  'mode_changed_at',
  'sync.exportOn',
];
/** Of `config.json` in the home: its projects and its server. */
const HOME_KEYS = ['version', 'projects', 'server.host', 'server.port', 'server.names'];
/** What is below them has names of others: models, and what a tracker is told. */
const OPEN_SECTIONS = ['prices', 'issueTracker'];

/** In the person's settings, in the project's config and in the config of the home. */
export function listUnknownKeys(
  paths: Pick<ProjectPaths, 'forge_dir' | 'store_dir'>,
  home: string,
): UnknownKey[] {
  const settings = listSettingKeys();
  const files = listSettingsFiles(paths, home).map(({ path, value, isPersonal }) => ({
    path,
    value,
    known: isPersonal ? settings : [...settings, ...PROJECT_KEYS],
  }));
  const path = join(home, 'config.json');
  const text = readHomeFile(home, 'config.json') ?? '';
  const value = text.trim() === '' ? {} : parseSettingsObject(text, path);
  return [...files, { path, value, known: HOME_KEYS }].flatMap((file) =>
    listKeys(file.value, file.known).map((key, at) => ({
      path: file.path,
      key,
      // A file may have as many as fit into it, and only the first are told.
      meant:
        at < LIMITS.error_names && key.length <= LIMITS.error_value_length
          ? findMeant(key, file.known)
          : undefined,
    })),
  );
}

function listKeys(value: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  const known = new Set(names);
  const sections = new Set(names.map((key) => key.slice(0, key.indexOf('.'))));
  return Object.entries(value).flatMap(([section, values]) => {
    if (OPEN_SECTIONS.includes(section) || known.has(section)) return [];
    if (!sections.has(section)) return [section];
    const below = typeof values === 'object' && values !== null ? Object.keys(values) : [];
    return below.map((name) => `${section}.${name}`).filter((key) => !known.has(key));
  });
}

function findMeant(key: string, known: readonly string[]): string | undefined {
  const same = known.find((one) => toLetters(one) === toLetters(key));
  const sections = known.map((one) => one.split('.')[0] ?? one);
  return same ?? findClosestWord(key, new Set(key.includes('.') ? known : [...known, ...sections]));
}

/** `budgetUsd` and `budget-usd` are meant for `budget_usd`. */
function toLetters(key: string): string {
  return key.toLowerCase().replace(/[^a-z]/g, '');
}
