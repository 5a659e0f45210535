import * as z from 'zod';
import { RunUsage } from './attempt.ts';

/** One line of a run's log, whatever program wrote it in whatever protocol. */

const id = z.string();

export const TranscriptEntry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), role: z.enum(['agent', 'user']), text: z.string() }),
  z.object({ kind: z.literal('thought'), text: z.string() }),
  z.object({ kind: z.literal('tool_call'), id, tool: z.string(), input: z.unknown() }),
  z.object({ kind: z.literal('tool_result'), id, is_error: z.boolean(), text: z.string() }),
  z.object({
    kind: z.literal('approval'),
    id,
    tool: z.string(),
    decision: z.enum(['asked', 'allowed', 'denied', 'expired']),
    /** What exactly was asked for. */
    request: z.string().optional(),
  }),
  z.object({ kind: z.literal('usage'), usage: RunUsage }),
  z.object({ kind: z.literal('error'), code: z.string(), text: z.string() }),
  /** A line of a program that speaks no protocol. */
  z.object({ kind: z.literal('output'), stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  /** What Forge itself has to say: started, stopped, what was left out. */
  z.object({ kind: z.literal('note'), text: z.string() }),
]);
export type TranscriptEntry = z.output<typeof TranscriptEntry>;

/** As the log has it: schema version, sequence number, time. */
export const LogLine = z.intersection(
  z.object({ v: z.literal(1), seq: z.int(), at: z.string() }),
  TranscriptEntry,
);
export type LogLine = z.output<typeof LogLine>;
