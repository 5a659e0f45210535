import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { HomePlace } from './forge-home.ts';
import { parseHomeObject, readHomeFile } from './home-file.ts';

export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  /** Further names that people use for this server, without a port. */
  readonly names: readonly string[];
}

const DEFAULTS: ServerSettings = { host: '127.0.0.1', port: 8080, names: [] };
const FILE = 'config.json';
const HOST = /^[0-9A-Za-z.:_-]{1,255}$/;

/** Flags before the environment before the file before what is usual. Throws invalid_input with where a value came from. */
export function readServerSettings(
  flags: { readonly host?: string | undefined; readonly port?: number | undefined },
  { env, home }: HomePlace,
): ServerSettings {
  const file = readFileSettings(home);
  return {
    host: flags.host ?? toHost(env['FORGE_HOST'], 'FORGE_HOST') ?? file.host ?? DEFAULTS.host,
    port: flags.port ?? toPort(env['FORGE_PORT'], 'FORGE_PORT') ?? file.port ?? DEFAULTS.port,
    names: file.names ?? DEFAULTS.names,
  };
}

function readFileSettings(home: string): Partial<ServerSettings> {
  const path = join(home, FILE);
  const text = readHomeFile(home, FILE);
  if (text === undefined || text.trim() === '') return {};
  const { server } = parseHomeObject(text, path);
  if (server === undefined) return {};
  if (typeof server !== 'object' || server === null || Array.isArray(server))
    throw refuse(`"server" in ${path}`, 'an object with host and port');
  const { host, port, names } = server as JsonObject;
  const isName = (name: unknown): name is string => typeof name === 'string' && HOST.test(name);
  if (names !== undefined && (!Array.isArray(names) || !names.every(isName)))
    throw refuse(`server.names in ${path}`, 'a list of host names');
  return {
    ...(host !== undefined && { host: toHost(host, `server.host in ${path}`) ?? '' }),
    ...(port !== undefined && { port: toPort(port, `server.port in ${path}`) ?? 0 }),
    ...(names !== undefined && { names: names as unknown as string[] }), // just checked
  };
}

function toHost(value: unknown, from: string): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string' && HOST.test(value)) return value;
  throw refuse(from, 'a host name or an address');
}

function toPort(value: unknown, from: string): number | undefined {
  if (value === undefined || value === '') return undefined;
  const port = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
  if (typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw refuse(from, 'a port from 0 to 65535');
}

function refuse(from: string, rule: string): ForgeError {
  return new ForgeError('invalid_input', `${from} must be ${rule}`, { hint: 'forge serve --help' });
}

/** Whether only this machine can reach it. A name other than localhost may lead anywhere. */
export function isLoopback(host: string): boolean {
  const bare = host.toLowerCase();
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare);
}

/** As a URL has it. */
export function toUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The address for a browser on this machine: a server that listens to all of them goes by none of the wildcards. */
export function toBrowserHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return toUrlHost(host === '::' ? '::1' : host);
}
