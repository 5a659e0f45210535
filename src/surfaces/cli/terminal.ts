export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether text may carry colours. The flag is what somebody typed just now, so it wins; then FORCE_COLOR, which
 * beats NO_COLOR as in Node itself; then what the stream and the terminal can do.
 */
export function decideColor(options: { flag: boolean; env: Environment; isTerminal: boolean }): boolean {
  const { flag, env, isTerminal } = options;
  if (!flag) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return isTerminal && env['TERM'] !== 'dumb';
}

const USUAL_COLUMNS = 80;

/**
 * Lines have no end where no terminal cuts them, and lists are no tables there; COLUMNS in the environment asks for
 * what a terminal of that width would show.
 */
export function decideColumns(options: {
  columns: number | undefined;
  isTerminal: boolean;
  env: Environment;
}): number {
  if (!options.isTerminal) {
    const asked = /^[1-9]\d{0,4}$/.exec(options.env['COLUMNS'] ?? '');
    return asked === null ? Number.POSITIVE_INFINITY : Number(asked[0]);
  }
  // A terminal without a size (some CI systems) says 0.
  return options.columns !== undefined && options.columns > 0 ? options.columns : USUAL_COLUMNS;
}
