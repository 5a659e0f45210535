import { spawnSync } from 'node:child_process';
import type { ForgePlace } from './forge-cli.ts';

/** util-linux's script(1) gives a command a terminal; other systems' take other arguments. */
const PROGRAM = 'script';
export const hasTerminal =
  spawnSync(PROGRAM, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

export interface TerminalWish {
  readonly env?: Readonly<Record<string, string>>;
  /** Typed once the prompt is there; `\\r`, `\\003` as printf knows them. */
  readonly input?: string;
  /** Part of what the command asks. */
  readonly prompt?: string;
}

// The terminal is there as long as the command runs, and nothing is typed before it is asked for.
const SCRIPT = `
  set -o pipefail
  said=$(mktemp) over=$(mktemp -u)
  {
    if [ -n "$INPUT" ]; then
      until grep -qF -- "$PROMPT" "$said" || [ -e "$over" ]; do sleep 0.05; done
      printf '%b' "$INPUT"
    fi
    until [ -e "$over" ]; do sleep 0.05; done
  } | {
    script -qec "stty cols 60 2>/dev/null; $COMMAND" /dev/null
    code=$?
    touch "$over"
    exit "$code"
  } | tee "$said"
  code=$?
  rm -f "$said" "$over"
  exit "$code"`;

/** What a command does on a terminal of 60 columns. */
export function onTerminal(
  cli: Pick<ForgePlace, 'bash'>,
  command: string,
  { env, input = '', prompt = '?' }: TerminalWish = {},
): ReturnType<ForgePlace['bash']> {
  return cli.bash(SCRIPT, {
    env: { TERM: 'xterm-256color', COMMAND: command, INPUT: input, PROMPT: prompt, ...env },
  });
}
