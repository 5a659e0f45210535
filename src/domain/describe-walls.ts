/** Whether programs of attempts are put inside of walls on a machine. */
export interface ShownWalls {
  /** bubblewrap is installed and works. */
  readonly possible: boolean;
  /** What the person's settings say. */
  readonly agents: 'on' | 'off';
  readonly checks: 'on' | 'off';
  /** Agents whose own profile says off. */
  readonly off: readonly string[];
}

/** What an agent can reach on this machine, and what would change that. */
export function describeWalls({ possible, agents, checks, off }: ShownWalls): {
  readonly message: string;
  /** Left out where everything has walls. */
  readonly hint: string | undefined;
} {
  if (!possible) return { message: `none: ${NO_WALLS}`, hint: INSTALL };
  if (agents === 'off' && checks === 'off') return { message: `switched off: ${NO_WALLS}`, hint: SWITCH_ON };
  if (agents === 'off') return { message: `around checks only: ${NO_WALLS}`, hint: SWITCH_ON };
  if (checks === 'off')
    return { message: `around agents, and not around the checks that run what they wrote`, hint: SWITCH_ON };
  if (off.length > 0)
    return {
      message: `around agents and checks, but for ${off.join(', ')}`,
      hint: `forge agent add ${off[0]} --walls on`,
    };
  return { message: `around agents and checks: ${WALLS}`, hint: undefined };
}

/** Said of a run as well. */
export const WALLS =
  'they can change their own checkout, caches and the folders of their own program; the network is open to them';
export const NO_WALLS =
  "an agent runs as you: it can read and change Forge's files, your checkout and all else that is yours";
const INSTALL = 'Install bubblewrap (apt install bubblewrap), which needs user namespaces';
const SWITCH_ON = 'Take walls.agents and walls.checks out of settings.json in your Forge home';

/** What programs say that reach for what the walls keep from them. */
const SIGNS = [/read-only file ?system/i, /\bEROFS\b/, /docker daemon|docker\.sock/i];

/** Whether the output of a command that failed inside of walls looks as if they were the reason. */
export function hitsWalls(output: string): boolean {
  return SIGNS.some((sign) => sign.test(output)) || output.split('\n').some(deniesPath);
}

/** A line that names a path and says that it is denied, in whichever order. */
function deniesPath(line: string): boolean {
  const path = /['" :]\//;
  const first = line.search(/permission denied|EACCES/i);
  if (first === -1) return false;
  const last = line.toLowerCase().lastIndexOf('permission denied');
  return path.test(line.slice(first)) || path.test(line.slice(0, Math.max(0, last)));
}

export const INSIDE_WALLS =
  'forge: this ran inside of walls, which may be why it failed: docs/trust.md#walls, or walls.checks in settings.json';
