import type { Turn } from '../trajectory.ts';

export type Json = Readonly<Record<string, unknown>>;

/** One provider's way to be asked and to answer. */
export interface Wire {
  /** Whether a request to this path is for the model. */
  fits(path: string): boolean;
  read(body: Json): WireRequest;
  /** What is streamed for a turn; undefined where the turn is no answer. */
  answer(turn: Turn, context: WireContext): readonly WireEvent[];
  /** A refusal with 429: when requests are taken again, in seconds since 1970, and in how many seconds. */
  refuse(
    until: number,
    retry_after: number,
  ): { readonly headers: Readonly<Record<string, string>>; readonly body: Json };
}

export interface WireRequest {
  /** A request of the agent's own work; the others are for titles and the like. */
  readonly main: boolean;
  /** What the user said and what tools answered, in order. */
  readonly said: readonly Said[];
  /** Names of the tools that are offered. */
  readonly tools: readonly string[];
}

export type Said = { readonly user: string } | { readonly result: string };

export interface WireContext {
  readonly folder: string;
  /** Which request of the trajectory this is, for ids. */
  readonly at: number;
  readonly tools: readonly string[];
}

export interface WireEvent {
  readonly event?: string;
  readonly data: Json | string;
}

export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value)
    ? value.filter((one): one is Json => typeof one === 'object' && one !== null)
    : [];
}

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return listOf(value)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n');
}
