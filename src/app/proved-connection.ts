import { randomBytes } from 'node:crypto';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { readJson } from '#kernel/read-json.ts';
import { isProof, proveToken, type ReachedAddress, remoteEnd } from './server-proof.ts';

/** The requests of this agent go over the one connection on which the server proved itself, or fail. */
export interface ProvedConnection extends Disposable {
  readonly agent: HttpAgent;
}

const ANSWER_MS = 10_000;
const ANSWER_BYTES = 65_536;

/**
 * Connects to a server and has it prove that it holds the token, without telling it the token. Undefined where the listener
 * does not prove it. Rejects as a connection does.
 */
export async function openProvedConnection(url: URL, token: string): Promise<ProvedConnection | undefined> {
  const agent = createSingleAgent(url);
  try {
    const challenge = randomBytes(32).toString('hex');
    const { proof, reached } = await askForProof(url, agent, challenge);
    if (isProof(proof, proveToken(token, challenge, reached)))
      return { agent, [Symbol.dispose]: () => agent.destroy() };
  } catch (error) {
    agent.destroy();
    throw error;
  }
  agent.destroy();
  return undefined;
}

/** A second connection may lead to another listener, so that none is made. */
function createSingleAgent(url: URL): HttpAgent {
  const options = { keepAlive: true, maxSockets: 1 };
  const agent = url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  const connect = agent.createConnection.bind(agent);
  let isConnected = false;
  agent.createConnection = (to, done) => {
    if (!isConnected) {
      isConnected = true;
      return connect(to, done);
    }
    const error = Object.assign(new Error('it hung up before it was asked'), { code: 'ECONNRESET' });
    // The type has no error alone; Node's agent takes it so.
    (done as ((error: Error) => void) | undefined)?.(error);
    return undefined;
  };
  return agent;
}

async function askForProof(
  url: URL,
  agent: HttpAgent,
  challenge: string,
): Promise<{ proof: unknown; reached: ReachedAddress }> {
  const asked = new URL(url);
  asked.pathname = url.pathname.replace(/\/api\/v1\/.*$/s, '/api/status');
  asked.search = `?challenge=${challenge}`;
  const start = url.protocol === 'https:' ? requestHttps : requestHttp;
  const [response, socket] = await new Promise<[IncomingMessage, Socket]>((resolve, reject) => {
    const request = start(asked, { agent, headers: { accept: 'application/json' }, timeout: ANSWER_MS });
    request.once('response', (answer) => resolve([answer, answer.socket]));
    request.once('timeout', () => request.destroy(new Error('it does not answer')));
    request.once('error', reject);
    request.end();
  });
  const reached = remoteEnd(socket);
  if (Number(response.headers['content-length'] ?? Infinity) > ANSWER_BYTES) {
    response.destroy();
    return { proof: undefined, reached };
  }
  return { proof: readProof((await buffer(response)).toString('utf8')), reached };
}

function readProof(text: string): unknown {
  try {
    const answer = readJson(text);
    return typeof answer === 'object' && answer !== null && 'proof' in answer ? answer.proof : undefined;
  } catch {
    return undefined;
  }
}
