/** What the scripted model says to one request: a tool call in the CLI's own tools, words, or no answer. */
export type Turn =
  | { readonly write: string; readonly text: string }
  | { readonly run: string }
  | { readonly say: string }
  /** An answer by a schema that the request asked for. */
  | { readonly answer: object }
  | { readonly refuse: 429; readonly retry_after: number }
  /** Begins and does not go on until the client hangs up. */
  | { readonly hang: string };

export type ScriptName = keyof typeof SCRIPTS;

/** One turn a request; after the last one it is said again. */
export const SCRIPTS = {
  write: [{ write: 'hello.txt', text: 'hello\n' }, { say: 'The file is written.' }],
  again: [{ say: 'I go on where I was.' }],
  command: [{ run: 'echo hello > hello.txt' }, { say: 'The command has run.' }],
  // Without anything that makes a program look twice.
  touch: [{ run: 'touch hello.txt' }, { say: 'The command has run.' }],
  'other-way': [
    { run: 'echo no > refused.txt' },
    { write: 'hello.txt', text: 'hello\n' },
    { say: 'I found another way.' },
  ],
  outside: [{ write: '../outside.txt', text: 'planted\n' }, { say: 'I am done with that.' }],
  // For a run inside of walls, whose commands are allowed.
  escape: [
    {
      run: 'echo x > done.txt; echo planted > "$HOME/planted"; echo planted > "$(git config forge.project)/planted"',
    },
    { say: 'I tried.' },
  ],
  // A child that leaves its parents and its session, and one that is waited for.
  linger: [{ run: 'setsid sleep 7654321 & sleep 7654321' }, { say: 'I waited for it.' }],
  slow: [{ hang: 'I think' }],
  verdict: [{ answer: { verdict: 'pass', findings: [] } }, { say: 'That is my verdict.' }],
  limit: [{ refuse: 429, retry_after: 3_600 }],
} as const satisfies Readonly<Record<string, readonly Turn[]>>;

/** The prompt names the script and the folder, so that the server needs no memory: a request says all by itself. */
export function toPrompt(script: ScriptName, folder: string): string {
  return `Play the script <${script}> in <${folder}>.`;
}

export interface Asked {
  readonly script: ScriptName;
  readonly folder: string;
}

/** The last one that is named. */
export function findAsked(text: string): Asked | undefined {
  const named = [...text.matchAll(/Play the script <([a-z-]+)> in <([^>]+)>/g)].at(-1);
  const [, script = '', folder = ''] = named ?? [];
  return isScript(script) ? { script, folder } : undefined;
}

function isScript(name: string): name is ScriptName {
  return Object.hasOwn(SCRIPTS, name);
}

export function turnOf(script: ScriptName, at: number): Turn {
  const turns: readonly Turn[] = SCRIPTS[script];
  return turns[Math.min(at, turns.length - 1)] ?? { say: 'There is nothing to do.' };
}
