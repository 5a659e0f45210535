import { statSync } from 'node:fs';
import { homedir, hostname, networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { OPERATIONS } from '#contract/operations.ts';
import { systemClock, toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Served, ServeWishes } from '#operations/operation.ts';
import { readOpenFileLimit } from '#process/open-file-limit.ts';
import { readSelf } from '#process/process-identity.ts';
import { AnswerBudget } from '#surfaces/http/answer-budget.ts';
import { createBrowserSessions } from '#surfaces/http/browser-sessions.ts';
import { createEventStream } from '#surfaces/http/event-stream.ts';
import { createHttpHandler } from '#surfaces/http/create-http-handler.ts';
import { reserveAnswer } from '#surfaces/http/reserve-answer.ts';
import type { McpHttpHandler } from '#surfaces/mcp/http-handler.ts';
import { openTokenAccess } from '#sync/access-port.ts';
import { ensureServerToken, readServerToken } from '#sync/access-tokens.ts';
import { toHomePlace, toRealPlace } from '#sync/forge-home.ts';
import { describeWideModes } from '#sync/home-modes.ts';
import { STORE_FORMAT } from '#store/store-format.ts';
import { addRunning, markStopping, removeRunning } from '#sync/running-servers.ts';
import { findActor } from '../find-actor.ts';
import { findProgram } from '../find-program.ts';
import { keepProcesses } from '../keep-processes.ts';
import type { ContextRequest } from '../open-context.ts';
import { createOperationCaller } from '../operation-caller.ts';
import { localEnd, proveToken } from '../server-proof.ts';
import { openServerProjects, type ServerProjects } from '../server-projects.ts';
import { VERSION } from '../version.ts';
import { fitSockets } from './fit-sockets.ts';
import { keepWorking } from './keep-working.ts';
import { limitYoungSpace } from './limit-young-space.ts';
import { listen, type Listening, readTls } from './listen.ts';
import { tellChanges } from './tell-changes.ts';
import { createFailureTeller } from './tell-failures.ts';
import { openInBrowser } from './open-browser.ts';
import { createIdempotency, createStamp, createTellLate, listServed, listSources } from './project-ports.ts';
import {
  isLoopback,
  readServerSettings,
  toBrowserHost,
  toUrlHost,
  type ServerSettings,
} from '#sync/server-settings.ts';
import { watchRequests } from './stop-server.ts';

const REFRESH_MS = 1_000;

type Request = Pick<ContextRequest, 'cwd' | 'env' | 'notice'>;

/** Starts a server that lives as long as the process, until it gets SIGTERM or SIGINT. */
export async function runServer(wishes: ServeWishes, request: Request): Promise<Served> {
  const running = await startServer(wishes, request);
  endWithSignals(running);
  limitYoungSpace();
  if (wishes.open === true) openInBrowser(running.createLink, request).catch(() => undefined);
  return running.served;
}

export interface RunningForge {
  readonly served: Served;
  /** Logs a browser in as the person whose server this is; good once, for a minute. */
  readonly createLink: () => string;
  /** Ends streams, lets requests end, closes the stores. Idempotent. */
  readonly stop: () => Promise<void>;
  /** Kills the agents at once: for a process that is about to leave. */
  readonly killNow: () => void;
}

export async function startServer(wishes: ServeWishes, request: Request): Promise<RunningForge> {
  const { cwd, env, notice } = request;
  const place = toHomePlace(env, homedir());
  const settings = readServerSettings(wishes, place);
  const tls = readTls({ cert: wishes.tls_cert, key: wishes.tls_key });
  refuseOpenNetwork(settings, { isSafe: tls !== undefined || wishes.allow_insecure_network === true });
  const limits = fitSockets(readOpenFileLimit(), notice);
  const clock = systemClock;
  const program = findProgram();
  const processes = keepProcesses({ env, notice });
  const projects = await openServerProjects(
    { paths: (wishes.projects ?? []).map((path) => toFolder(cwd, path)), cwd },
    { place, clock, env, program, notice, processes },
  );
  let listening: Listening;
  let token: { readonly path: string; readonly token: string };
  try {
    const { FORGE_ACTOR: _agent, ...person } = env;
    const user = findActor({ flag: undefined, env: person, cwd }).name;
    token = await ensureServerToken(place.home, { user, now: clock.now() });
    listening = await listen(tls, { ...settings, limits });
  } catch (error) {
    await projects[Symbol.asyncDispose]();
    throw error;
  }
  const { server, sockets, port } = listening;
  const scheme = tls === undefined ? 'http' : 'https';
  const url = `${scheme}://${toUrlHost(settings.host)}:${port}`;
  if (settings.port !== 0 && port !== settings.port)
    notice(`Port ${settings.port} is taken; this server is at ${url}`);
  const stores = projects.list().map(({ found }) => found.paths);
  for (const { what, hint } of describeWideModes(place.home, stores))
    notice(`${what.charAt(0).toUpperCase()}${what.slice(1)}: ${hint}`);
  const access = openTokenAccess(place.home, clock, notice);
  // Who is refused, and why, is told at the start and not by the first whom it hits.
  access.findCaller('');
  const sessions = createBrowserSessions({ clock, port, scheme });
  const machine = { env, homeDir: homedir(), program, clock };
  const caller = createOperationCaller({ projects, clock, place, machine, env, cwd, notice });
  const answers = new AnswerBudget();
  const events = createEventStream({
    answers,
    sources: () => listSources(projects),
    isAlive: (one) => access.isAlive(one),
    report: (error) => notice(`events: ${toMessage(error)}`),
  });
  // Its library is a third of the memory of a server, and not everybody has a host that speaks the protocol.
  let mcp: Promise<McpHttpHandler> | undefined;
  const loadMcp = async (): Promise<McpHttpHandler> => {
    const { createMcpHandler } = await import('#surfaces/mcp/http-handler.ts');
    return createMcpHandler({
      operations: caller,
      declarations: OPERATIONS,
      version: VERSION,
      clock,
      projects: () => projects.list().map(({ prefix }) => prefix),
      isAlive: (one) => access.isAlive(one),
      reserve: (declaration, call) => reserveAnswer(answers, declaration, call),
    });
  };
  const requests = watchRequests(server);
  let isStopping = false;
  server.on(
    'request',
    createHttpHandler({
      caller,
      access,
      answers,
      sockets,
      clock,
      version: VERSION,
      declarations: OPERATIONS,
      origin: { scheme, host: settings.host, port, names: listNames(settings) },
      projects: () => listServed(projects),
      idempotency: createIdempotency(projects),
      tellLate: createTellLate(projects, clock),
      stamp: createStamp(projects),
      sessions,
      // A connection that is open still does not show who listens on the port that was let go of.
      prove(challenge, socket) {
        // Read each time, because it may have been rotated.
        const held = isStopping ? undefined : readServerToken(place.home);
        return held === undefined ? undefined : proveToken(held, challenge, localEnd(socket));
      },
      events: events.handle,
      mcp: async (incoming, outgoing, who) => (await (mcp ??= loadMcp())).handle(incoming, outgoing, who),
      report: createFailureTeller(clock, { notice, toMessage }),
    }),
  );
  const refreshing = keepRefreshing(projects, notice, () => events.look());
  const keeping = keepWorking(projects, { dispatch: wishes.dispatch === true, clock, notice });
  await announce(place.home, { url, projects, notice });
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    isStopping = true;
    await markStopping(place.home, process.pid, url).catch(() => undefined);
    const stopped = requests.stop(LIMITS.server_stop_ms);
    events.close();
    // At the same time: requests may wait for a merge that has to end, and agents take a while to.
    const worked = keeping.stop();
    const isQuiet = await stopped;
    if (!isQuiet) notice(`Requests that took longer than ${LIMITS.server_stop_ms / 1000} s were cut off`);
    await worked;
    await refreshing.end();
    await (await mcp)?.[Symbol.asyncDispose]();
    await projects[Symbol.asyncDispose]();
    await removeRunning(place.home, process.pid, url).catch(() => undefined);
  };
  return {
    served: { url, pid: process.pid, token_file: token.path, projects: projects.list().map(toEntry) },
    createLink() {
      const caller = access.findCaller(token.token);
      if (caller === undefined)
        throw new ForgeError('unauthorized', `The token in ${token.path} was revoked`);
      return `${scheme}://${toBrowserHost(settings.host)}:${port}/login?code=${sessions.createCode(caller).code}`;
    },
    stop: () => (stopping ??= stop()),
    killNow: () => processes.killNow(),
  };
}

/** A folder that is not there must not quietly become the project around it. */
function toFolder(cwd: string, path: string): string {
  const folder = resolve(cwd, path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new ForgeError('invalid_input', `--project: ${folder} is not a folder`, {
    details: { path: folder },
  });
}

/** Whoever can reach the port could try tokens and read those of others: that has to be wanted. */
function refuseOpenNetwork({ host }: ServerSettings, { isSafe }: { readonly isSafe: boolean }): void {
  if (isSafe || isLoopback(host)) return;
  throw new ForgeError(
    'permission_denied',
    `${host} can be reached from other machines, and without TLS everybody on the way could read tokens`,
    {
      hint: 'forge serve --tls-cert cert.pem --tls-key key.pem, or --allow-insecure-network behind a proxy that has TLS',
      details: { host },
    },
  );
}

/** What others may call this machine, where it listens to all of them. */
function listNames({ host, names }: ServerSettings): string[] {
  if (host !== '0.0.0.0' && host !== '::') return [...names];
  const addresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  );
  return [...names, hostname(), ...addresses.filter((address) => !address.includes('%'))];
}

function keepRefreshing(
  projects: ServerProjects,
  notice: (line: string) => void,
  refreshed: () => void,
): { end: () => Promise<void> } {
  let at: Promise<void> | undefined;
  const tell = tellChanges(notice);
  const timer = setInterval(() => {
    at ??= projects
      .refresh()
      .then(
        () => tell(''),
        (error: unknown) => tell(toMessage(error)),
      )
      .finally(() => {
        at = undefined;
        refreshed();
      });
  }, REFRESH_MS).unref();
  return {
    async end() {
      clearInterval(timer);
      await at;
    },
  };
}

async function announce(
  home: string,
  { url, projects, notice }: { url: string; projects: ServerProjects; notice: (line: string) => void },
): Promise<void> {
  const paths = projects.list().map(({ path }) => toRealPlace(path));
  try {
    const other = await addRunning(home, {
      ...readSelf(),
      url,
      projects: paths,
      version: VERSION,
      schema: STORE_FORMAT,
      started_at: toIso(systemClock.now()),
    });
    if (other !== undefined)
      notice(`The same projects are served at ${other.url} already (process ${other.pid})`);
  } catch (error) {
    notice(toMessage(error)); // a list for people; the server needs it not
  }
}

/** The first signal asks, the second one does not wait. A terminal that is closed may say so more than once. */
function endWithSignals({ stop, killNow }: Pick<RunningForge, 'stop' | 'killNow'>): void {
  let isAsked = false;
  const end = (signal: NodeJS.Signals): void => {
    if (isAsked) {
      if (signal === 'SIGHUP') return;
      killNow();
      process.exit(130);
    }
    isAsked = true;
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('SIGHUP', end);
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toEntry({ name, prefix, path }: Served['projects'][number]): Served['projects'][number] {
  return { name, prefix, path };
}
