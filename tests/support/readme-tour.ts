import { spawn } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { delimiter, join } from 'node:path';
import { noteUnwalled } from './note-unwalled.ts';

/** A `$` line of a console block and the lines that the page shows below it. */
export interface TourStep {
  /** In the page, counted from 1. */
  readonly line: number;
  readonly command: string;
  readonly shown: readonly string[];
}

/** The `$` lines of all ```console blocks of a page, in order. */
export function parseTour(markdown: string): readonly TourStep[] {
  const steps: { line: number; command: string; shown: string[] }[] = [];
  for (const block of listBlocks(markdown, 'console')) {
    let open: string[] | undefined;
    block.lines.forEach((text, i) => {
      if (text.startsWith('$ ')) {
        open = [];
        steps.push({ line: block.line + i, command: text.slice(2), shown: open });
      } else if (open === undefined)
        throw new Error(`Line ${block.line + i} shows output before any command`);
      else open.push(text);
    });
  }
  return steps.map((step) => ({ ...step, shown: trimLines(step.shown) }));
}

/** The fenced blocks of one language; `line` is where the content begins. */
export function listBlocks(
  markdown: string,
  language: string,
): readonly { readonly line: number; readonly lines: readonly string[] }[] {
  const blocks: { line: number; lines: string[] }[] = [];
  let fence: string | undefined;
  let current: string[] | undefined;
  markdown.split('\n').forEach((text, i) => {
    if (fence !== undefined) {
      if (text.trimEnd() === fence) fence = current = undefined;
      else current?.push(text);
      return;
    }
    const [, ticks, word] = /^(`{3,})(\w*)/.exec(text) ?? [];
    if (ticks === undefined) return;
    fence = ticks;
    if (word !== language) return;
    current = [];
    blocks.push({ line: i + 2, lines: current });
  });
  return blocks;
}

/** Where the page stands on the machine of its reader; the test's folder takes its place. */
const SHOWN_FOLDER = '/home/ada';

/** A reader who follows the page, in one bash. */
export interface Tour extends AsyncDisposable {
  /**
   * Runs the steps in order and gives one sentence for each that does not do what the page shows. Ids are random, so
   * those of the page stand for the real ones in the order in which they first appear. The second time, a command that
   * stands where it stood is not run again: it did what it did.
   */
  follow(steps: readonly TourStep[]): Promise<readonly string[]>;
}

export function openTour(options: { readonly folder: string; readonly env: NodeJS.ProcessEnv }): Tour {
  const shell = openShell(options);
  const answers: { readonly command: string; readonly output: string; readonly exit: number }[] = [];
  const answer = async (at: number, command: string): Promise<{ output: string; exit: number }> => {
    const known = answers[at];
    if (known?.command === command) return known;
    const given = await shell.run(command);
    answers[at] ??= { command, ...given };
    return given;
  };
  return {
    async follow(steps) {
      const names = new TourNames();
      const found: string[] = [];
      for (const [at, { line, command, shown }] of steps.entries()) {
        const { output, exit } = await answer(at, names.toReal(command));
        const real = trimLines(output.replaceAll(options.folder, SHOWN_FOLDER).split('\n'));
        const where = `line ${line}: $ ${command}`;
        if (exit !== 0) found.push(`${where}: exited with ${exit}: ${real.join(' / ')}`);
        else
          found.push(...names.compare(shown, real, isUnordered(command)).map((text) => `${where}: ${text}`));
      }
      return found;
    },
    [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose](),
  };
}

/** Nodes and edges of a drawing stand in the order of their ids, which differs with every run. */
function isUnordered(command: string): boolean {
  return /\bforge graph\b/.test(command);
}

/** `fg-a3f8`, and as the graph writes it: `fg_a3f8`, `fg#45;a3f8`. */
const TASK_ID = /(?<![a-z0-9])fg(?:-|_|#45;)([a-z0-9]{4,})(?![a-z0-9])/g;
/** As Forge shortens the name of a commit. */
const COMMIT = /\b[0-9a-f]{10}\b/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** Which real id each id of the page stands for; one to one. */
class TourNames {
  readonly #real = new Map<string, string>();
  readonly #shown = new Map<string, string>();

  toReal(text: string): string {
    return replaceIds(text, this.#real);
  }

  compare(shown: readonly string[], real: readonly string[], unordered: boolean): readonly string[] {
    if (!unordered) shown.forEach((text, i) => this.#learn(text, real[i] ?? ''));
    const blur = (text: string): string => text.replaceAll(TIME, '<time>').replaceAll(COMMIT, '<commit>');
    const wanted = shown.map(blur);
    const got = real.map((text) => blur(replaceIds(text, this.#shown)));
    if (unordered) [wanted, got].forEach((lines) => lines.sort());
    return Array.from({ length: Math.max(wanted.length, got.length) }, (_, i) => i).flatMap((i) =>
      wanted[i] === got[i] ? [] : [`shows ${quote(wanted[i])}, is ${quote(got[i])}`],
    );
  }

  #learn(shown: string, real: string): void {
    const ours = [...shown.matchAll(TASK_ID)].map((match) => match[1] ?? '');
    const theirs = [...real.matchAll(TASK_ID)].map((match) => match[1] ?? '');
    if (ours.length !== theirs.length) return;
    ours.forEach((id, i) => {
      const other = theirs[i] ?? '';
      if (this.#real.has(id) || this.#shown.has(other)) return;
      this.#real.set(id, other);
      this.#shown.set(other, id);
    });
  }
}

function replaceIds(text: string, names: ReadonlyMap<string, string>): string {
  return text.replaceAll(TASK_ID, (whole, id: string) => whole.replace(id, names.get(id) ?? id));
}

function quote(line: string | undefined): string {
  return line === undefined ? 'nothing' : JSON.stringify(line);
}

function trimLines(lines: readonly string[]): readonly string[] {
  const trimmed = lines.map((line) => line.trimEnd());
  return trimmed.slice(0, trimmed.findLastIndex((line) => line !== '') + 1);
}

interface Shell extends AsyncDisposable {
  run(command: string): Promise<{ output: string; exit: number }>;
}

const COMMAND_TIMEOUT_MS = 30_000;
/** No command prints this. */
const MARK = '\u001e';

/** One bash for all commands, so that `cd` and `export` last. It reads commands from its input, they read nothing. */
function openShell({ folder, env }: { folder: string; env: NodeJS.ProcessEnv }): Shell {
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  let arrived: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      arrived();
      resolve();
    });
  });
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    arrived();
  });
  child.stdin.write('exec 2>&1\n');
  return {
    async run(command) {
      child.stdin.write(`{ ${command}\n} </dev/null\nprintf '${MARK}%s${MARK}' "$?"\n`);
      const deadline = AbortSignal.timeout(COMMAND_TIMEOUT_MS);
      for (;;) {
        const end = /\u001e(\d+)\u001e$/.exec(text);
        if (end !== null) {
          const output = text.slice(0, end.index);
          text = '';
          return { output, exit: Number(end[1]) };
        }
        if (deadline.aborted || child.exitCode !== null)
          throw new Error(`bash did not come back from: ${command}`);
        await new Promise<void>((resolve) => {
          arrived = resolve;
          deadline.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * The environment of somebody called Ada on a fresh machine: `forge` on the PATH, nothing of the person or the program
 * that runs the tests. `home` is their home.
 */
export async function makeTourEnv(home: string, root: string): Promise<NodeJS.ProcessEnv> {
  const commands = join(home, 'bin');
  await mkdir(commands, { recursive: true });
  noteUnwalled(join(home, '.forge'));
  await addCommand(
    commands,
    'forge',
    `exec ${JSON.stringify(process.execPath)} ${JSON.stringify(join(root, 'bin/forge.cjs'))} "$@"`,
  );
  const config = join(home, 'gitconfig');
  await writeFile(
    config,
    '[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n',
  );
  const left = /^(FORGE_|GIT_|XDG_|npm_|NO_COLOR$|FORCE_COLOR$|CI$)/;
  const kept = Object.entries(process.env).filter(([name]) => !left.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    TERM: 'dumb',
    // The README shows what a terminal shows.
    COLUMNS: '100',
    PATH: [commands, process.env['PATH'] ?? ''].join(delimiter),
    GIT_CONFIG_GLOBAL: config,
    GIT_CONFIG_SYSTEM: devNull,
  };
}

/** A program of one line of shell. */
export async function addCommand(folder: string, name: string, line: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${line}\n`);
  await chmod(join(folder, name), 0o755);
}
