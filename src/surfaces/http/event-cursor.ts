import { ForgeError } from '#kernel/errors.ts';

/** How far somebody has come in each project's feed. Never changed once made: many readers share one. */
export type Positions = ReadonlyMap<string, Position>;

export interface Position {
  /** Of the project's database; numbers of another one mean nothing. */
  readonly epoch: string;
  readonly seq: number;
}

const PART = /^([a-z0-9]{2,4})\.([a-z0-9]{1,16})\.(\d{1,15})$/;
const MAX_LENGTH = 4_096;

/** `fg.mhz1x2k0.1234`, several joined by commas. Opaque to clients: the `id` of every event. */
export function toCursor(positions: Positions): string {
  return [...positions].map(([project, { epoch, seq }]) => `${project}.${epoch}.${seq}`).join(',');
}

/**
 * What a client gives back. `begin` for a bare 0: everything there is. Throws invalid_input for what was never given
 * to anybody.
 */
export function parseCursor(text: string): Positions | 'begin' {
  if (text === '0') return 'begin';
  const parts = text.length <= MAX_LENGTH ? text.split(',').map((part) => PART.exec(part)) : [null];
  const positions = new Map<string, Position>();
  for (const part of parts) {
    const [, project, epoch, seq] = part ?? [];
    if (project === undefined || epoch === undefined || positions.has(project)) throw refuse(text);
    positions.set(project, { epoch, seq: Number(seq) });
  }
  return positions;
}

function refuse(text: string): ForgeError {
  return new ForgeError('invalid_input', `Not the id of an event: ${JSON.stringify(text.slice(0, 100))}`, {
    hint: 'Give back the id of the last event as it came, or 0 for all events',
    details: { field: 'after' },
  });
}

export function withPosition(positions: Positions, project: string, position: Position): Positions {
  return new Map(positions).set(project, position);
}

/** Whether `positions` have come at least as far as `others` in every project of those. */
export function reaches(positions: Positions, others: Positions): boolean {
  for (const [project, { epoch, seq }] of others) {
    const own = positions.get(project);
    if (own === undefined || own.epoch !== epoch || own.seq < seq) return false;
  }
  return true;
}

/** The further one in each project. */
export function further(positions: Positions, others: Positions | undefined): Positions {
  if (others === undefined) return positions;
  const joined = new Map(positions);
  for (const [project, position] of others) {
    const own = joined.get(project);
    if (own?.epoch === position.epoch && own.seq < position.seq) joined.set(project, position);
  }
  return joined;
}
