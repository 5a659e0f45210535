import { join } from 'node:path';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/json.ts';
import {
  changeHomeFile,
  type HomeLine,
  parseHomeLines,
  readHomeFile,
  toHomeLine,
  toHomeText,
} from './home-file.ts';

/** Somebody who can claim, known on this machine whatever the project. */
export interface AgentIdentity {
  readonly name: string;
  readonly description: string;
  readonly created_at: string;
  /** Since when it claims nothing; null while it may. */
  readonly paused_at: string | null;
}

const FILE = 'agents.jsonl';

/** In the order they were added. */
export function listAgents(home: string): AgentIdentity[] {
  return readAgents(parseHomeLines(readHomeFile(home, FILE), join(home, FILE)), home).map(
    ({ agent }) => agent,
  );
}

export type AddedAgent = AgentIdentity & { readonly outcome: 'added' | 'updated' | 'unchanged' };

/** Idempotent; a description that is given replaces the one there. Keys that others wrote stay. */
export function addAgent(
  home: string,
  { name, description, now }: { name: string; description: string | undefined; now: number },
): Promise<AddedAgent> {
  return changeHomeFile(home, FILE, (text): { text: string; answer: AddedAgent } => {
    const lines = parseHomeLines(text, join(home, FILE));
    const known = readAgents(lines, home).find(({ agent }) => agent.name === name);
    if (known === undefined) {
      const agent = { name, description: description ?? '', created_at: toIso(now) };
      const added = { ...agent, paused_at: null };
      return { text: toHomeText([...lines, toHomeLine(agent)]), answer: { ...added, outcome: 'added' } };
    }
    if (description === undefined || description === known.agent.description)
      return { text: text ?? '', answer: { ...known.agent, outcome: 'unchanged' } };
    const line = toHomeLine({ ...known.value, description });
    return {
      text: toHomeText(lines.with(known.at, line)),
      answer: { ...known.agent, description, outcome: 'updated' },
    };
  });
}

/** Tasks that the agent owns stay its own. Throws not_found. */
export function removeAgent(home: string, name: string): Promise<AgentIdentity> {
  return changeHomeFile(home, FILE, (text) => {
    const lines = parseHomeLines(text, join(home, FILE));
    const known = findKnown(lines, home, name);
    return { text: toHomeText(lines.toSpliced(known.at, 1)), answer: known.agent };
  });
}

/** Throws not_found. */
export function getAgent(home: string, name: string): AgentIdentity {
  return findKnown(parseHomeLines(readHomeFile(home, FILE), join(home, FILE)), home, name).agent;
}

/** While paused it claims nothing; what it has stays its own. Idempotent. Throws not_found. */
export function pauseAgent(
  home: string,
  { name, paused, now }: { name: string; paused: boolean; now: number },
): Promise<AgentIdentity> {
  return changeHomeFile(home, FILE, (text) => {
    const lines = parseHomeLines(text, join(home, FILE));
    const known = findKnown(lines, home, name);
    if (paused === (known.agent.paused_at !== null)) return { text: text ?? '', answer: known.agent };
    const paused_at = paused ? toIso(now) : null;
    const line = toHomeLine({ ...known.value, paused_at });
    return { text: toHomeText(lines.with(known.at, line)), answer: { ...known.agent, paused_at } };
  });
}

function findKnown(lines: readonly HomeLine[], home: string, name: string): ReadAgent {
  const known = readAgents(lines, home).find(({ agent }) => agent.name === name);
  if (known !== undefined) return known;
  throw new ForgeError('not_found', `No agent ${JSON.stringify(name)} in ${join(home, FILE)}`, {
    hint: 'forge agent list',
    details: { name },
  });
}

interface ReadAgent {
  readonly at: number;
  readonly value: JsonObject;
  readonly agent: AgentIdentity;
}

function readAgents(lines: readonly HomeLine[], home: string): ReadAgent[] {
  return lines.flatMap(({ value }, at) => {
    if (value === undefined) return [];
    const { name, description, created_at, paused_at } = value;
    if (typeof name !== 'string' || name === '') {
      throw new ForgeError('invalid_input', `${join(home, FILE)}, line ${at + 1}, has no name`, {
        hint: 'Correct it by hand, or move it away and start anew',
        details: { path: join(home, FILE), line: at + 1 },
      });
    }
    const agent = {
      name,
      description: typeof description === 'string' ? description : '',
      created_at: typeof created_at === 'string' ? created_at : '',
      paused_at: typeof paused_at === 'string' ? paused_at : null,
    };
    return [{ at, value, agent }];
  });
}
