/**
 * Every file of the Forge home, with what becomes of it if another person of the machine reaches it. `changeHomeFile`
 * takes no other name, so that a new file stands here before it can be written. All are written for their owner alone.
 */
export const HOME_FILES = {
  /** Who reads it acts as its owner. */
  'server-token': 'tokens',
  'tokens.jsonl': 'tokens',
  /** They may hold the secrets of `--env`. */
  'agents.jsonl': 'secrets',
  'profiles.jsonl': 'secrets',
  'given-values.jsonl': 'secrets',
  /** Who changes it says what Forge runs, or where: checks, limits, trust, projects, servers. */
  'settings.json': 'authority',
  'trust.json': 'authority',
  'config.json': 'authority',
  'servers.json': 'authority',
  'batches.jsonl': 'authority',
  'token-uses.json': 'authority',
} as const satisfies Readonly<Record<string, HomeFileKind>>;

export type HomeFileKind = 'tokens' | 'secrets' | 'authority';
export type HomeFileName = keyof typeof HOME_FILES;

/** Folders of the home: who changes what is in them changes what is run, merged or shown. */
export const HOME_FOLDERS = ['caches', 'quarantine', 'run', 'skills', 'told', 'worktrees'] as const;
