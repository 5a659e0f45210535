import { homedir } from 'node:os';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { readServerToken } from '#sync/access-tokens.ts';
import { findForgeHome } from '#sync/forge-home.ts';
import { listRunning } from '#sync/running-servers.ts';

/** Throws invalid_input for what is no address of a server. */
export function parseServer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw invalid(text, 'it must begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw invalid(`${url.protocol}//…@${url.host}`, 'a token belongs into FORGE_TOKEN, not into the address');
  if (url.search !== '' || url.hash !== '') throw invalid(text, 'it has more than a host, a port and a path');
  return url;
}

export interface FoundToken {
  readonly token: string;
  /** The person did not name the token for this server: the server proves that it has it before the token is sent. */
  readonly needs_proof: boolean;
}

/**
 * The token for a server: FORGE_TOKEN, else the one that the first start of a server on this machine left in the Forge
 * home. That one is meant for a server that this person runs here, and for no other listener on the port.
 * Undefined when there is none.
 */
export function findToken(server: URL, env: NodeJS.ProcessEnv): FoundToken | undefined {
  if (env.FORGE_TOKEN)
    return { token: checkToken(env.FORGE_TOKEN.trim(), 'FORGE_TOKEN'), needs_proof: false };
  const home = findForgeHome(env, homedir());
  const isListed = listRunning(home).some(({ url, stopping }) => stopping !== true && isSame(url, server));
  if (!isLoopback(server.hostname) || !isListed) return undefined;
  const path = join(home, 'server-token');
  const token = readServerToken(home);
  return token === undefined ? undefined : { token: checkToken(token, path), needs_proof: true };
}

/** By any of the names of this machine; which listener is behind the name, its proof tells. */
function isSame(text: string, server: URL): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === server.protocol && url.port === server.port;
}

/** A header must not be broken by what somebody wrote into a file. */
function checkToken(token: string, from: string): string {
  if (/^[\x21-\x7e]{1,500}$/.test(token)) return token;
  throw new ForgeError('invalid_input', `${from} does not hold a token`, {
    hint: 'forge token create --scope task',
  });
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function invalid(text: string, why: string): ForgeError {
  return new ForgeError(
    'invalid_input',
    `${JSON.stringify(text.slice(0, 200))} is no address of a server: ${why}`,
    {
      hint: '--server http://127.0.0.1:8080',
    },
  );
}
