import { join } from 'node:path';
import type { Person } from './cli-places.ts';

/**
 * Where package managers keep what they fetched and built. Programs of the user run what lies there (`~/.npm/_npx`,
 * `~/.cache/pre-commit`), so agents and checks have caches of their own in those places.
 */
const CACHES = [
  '.cache',
  '.npm',
  '.yarn',
  '.bun/install/cache',
  '.local/share/pnpm',
  '.cargo/registry',
  '.cargo/git',
  'go/pkg',
  '.m2/repository',
  '.gradle/caches',
  '.gradle/wrapper',
  '.nuget/packages',
  '.ivy2/cache',
] as const;

/** Made where they are missing: hardly a program works without them. */
const ALWAYS: ReadonlySet<string> = new Set(['.cache', '.npm']);

/** Of the user's own caches: large, only read, and not fetched again by themselves. */
const READ = [
  '.cache/ms-playwright',
  '.cache/puppeteer',
  '.cache/Cypress',
  '.cache/huggingface',
  '.cache/node',
];

export interface CachePlace {
  readonly path: string;
  /** Among the caches of a project. */
  readonly name: string;
  readonly always: boolean;
}

export function listCaches({ home, env }: Person): readonly CachePlace[] {
  const usual = CACHES.map((name) => ({ path: join(home, name), name, always: ALWAYS.has(name) }));
  const moved = env['XDG_CACHE_HOME'];
  return moved ? [...usual, { path: moved, name: 'xdg-cache', always: true }] : usual;
}

export function listReadCaches({ home }: Person): readonly string[] {
  return READ.map((name) => join(home, name));
}

/** Keys and logins of the user that no work on a checkout needs, unless the settings say so. */
export const HIDDEN_OF_HOME = [
  '.ssh',
  '.gnupg',
  '.password-store',
  '.local/share/keyrings',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.oci',
  '.terraform.d',
  '.vault-token',
  '.config/gcloud',
  '.config/gh',
  '.config/glab-cli',
  '.config/hub',
  '.config/op',
  '.config/rclone',
  '.config/sops',
  '.config/chromium',
  '.config/google-chrome',
  '.mozilla',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/Slack',
  '.config/containers',
  '.config/git/credentials',
  '.thunderbird',
  '.s3cfg',
  '.boto',
  '.my.cnf',
  '.mylogin.cnf',
  '.npmrc',
  '.yarnrc.yml',
  '.config/pip/pip.conf',
  '.pip/pip.conf',
  '.config/pypoetry/auth.toml',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.gradle/gradle.properties',
  '.nuget/NuGet/NuGet.Config',
  '.config/NuGet/NuGet.Config',
  '.composer/auth.json',
  '.config/composer/auth.json',
  '.bundle/config',
  '.fly',
  '.config/doctl',
  '.config/heroku',
  '.config/hcloud',
  '.config/linode-cli',
  '.config/scw',
  '.config/vercel',
  '.local/share/com.vercel.cli',
  '.config/netlify',
  '.config/stripe',
  '.config/ngrok',
  '.ngrok2',
  '.wrangler',
  '.config/.wrangler',
  '.config/age',
  '.config/Bitwarden CLI',
  '.config/gitlab',
  '.config/tea',
  '.config/argocd',
  '.minikube',
  '.helm',
  '.config/helm',
  '.bitcoin',
  '.ethereum',
  '.electrum',
  '.config/solana',
  '.gem/credentials',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
  '.sqlite_history',
  '.rediscli_history',
  '.mongosh',
  '.irb_history',
  '.lesshst',
  '.viminfo',
  '.local/share/fish',
  '.git-credentials',
  '.netrc',
  '.pgpass',
  '.pypirc',
  '.Xauthority',
] as const;
