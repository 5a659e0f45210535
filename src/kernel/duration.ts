const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `2h`; the schema of the contract has looked at it. */
export function toDurationMs(text: string): number {
  return Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? 0);
}
