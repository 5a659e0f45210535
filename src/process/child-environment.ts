import { ForgeError } from '#kernel/errors.ts';

/**
 * What a program that Forge starts may know of the environment that Forge was started in. All else stays behind:
 * tokens and keys, what changes how programs load (NODE_OPTIONS, LD_PRELOAD, npm_*), and what points git somewhere
 * else (GIT_*). A program that needs more is given it by name.
 */
const ALLOWED: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'COLORTERM',
  'NO_COLOR',
  'TZ',
  'LANG',
  'LANGUAGE',
  'LC_ADDRESS',
  'LC_ALL',
  'LC_COLLATE',
  'LC_CTYPE',
  'LC_IDENTIFICATION',
  'LC_MEASUREMENT',
  'LC_MESSAGES',
  'LC_MONETARY',
  'LC_NAME',
  'LC_NUMERIC',
  'LC_PAPER',
  'LC_TELEPHONE',
  'LC_TIME',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_DIRS',
  'XDG_CONFIG_HOME',
  'XDG_DATA_DIRS',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'XDG_STATE_HOME',
  // Without the company's certificates nothing behind its proxy can be reached.
  'CURL_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
]);

const PROXIES: ReadonlySet<string> = new Set(['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy']);

/** The environment of a program that Forge starts: what is allowed of `parent`, and all of `extras`. */
export function toChildEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  extras: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value !== undefined && isAllowed(name, value)) env[name] = value;
  }
  for (const [name, value] of Object.entries(extras)) {
    if (!/^[^=\0]+$/.test(name) || value.includes('\0')) {
      throw new ForgeError('invalid_input', `${JSON.stringify(name)} cannot be set in an environment`, {
        hint: 'Give NAME=value, without zero bytes',
      });
    }
    env[name] = value;
  }
  return env;
}

function isAllowed(name: string, value: string): boolean {
  // An address with a name and a password in it is a secret; it has to be given by name.
  if (PROXIES.has(name.toLowerCase())) return !value.includes('@');
  return ALLOWED.has(name);
}
