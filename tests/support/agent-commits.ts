import { linesOf, type Clone } from './git-clones.ts';

export const TASK_FILE = '.forge/tasks.jsonl';
export const AGENT_BRANCH = 'forge/35a4-attempt';

/** A person changes the task file with an editor. */
export function editTasks(clone: Clone, from: string | RegExp, to: string): void {
  const text = clone.read(TASK_FILE);
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`nothing to edit: ${String(from)}`);
  clone.write(TASK_FILE, changed);
}

/** Commits what stands in the task file as Forge commits the work of an agent: without hooks, with its trailer. */
export function commitAsAgent(clone: Clone, message = 'agent'): void {
  const trailer = 'Forge-Attempt: 35a4aaaa-0000-4000-8000-000000000000';
  clone.git('-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '-am', `${message}\n\n${trailer}`);
}

/** An unmerged attempt whose agent wrote a description and made up a task; ends on the branch that it began on. */
export function makeAttempt(clone: Clone, branch: string = AGENT_BRANCH): void {
  const from = clone.git('branch', '--show-current');
  clone.git('switch', '--quiet', '-c', branch);
  editTasks(clone, '"description":""', '"description":"agent text"');
  const found = { id: 'fg-agnt', title: 'found by the agent', status: 'open' };
  const born = { created_at: '2026-02-01T00:00:00.000Z', created_by: 'agent' };
  clone.write(TASK_FILE, `${clone.read(TASK_FILE)}${JSON.stringify({ ...found, ...born })}\n`);
  commitAsAgent(clone);
  clone.git('switch', '--quiet', from);
}

/** Of the task file: how many lines a task has. */
export function countLines(text: string, id: string): number {
  return linesOf(text).filter((line) => line.includes(`"id":"${id}"`)).length;
}

/** Many commits of the task file on a branch, each with other bytes than the one before; by one process. */
export function commitOften(
  clone: Clone,
  { branch, count, trailer }: { readonly branch: string; readonly count: number; readonly trailer: boolean },
): void {
  const text = clone.read(TASK_FILE);
  const message = trailer ? 'agent\n\nForge-Attempt: 35a4aaaa-0000-4000-8000-000000000000\n' : 'person\n';
  const from = clone.git('rev-parse', 'HEAD');
  const parts: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const bytes = n % 2 === 0 ? `${text}\n` : text;
    parts.push(
      `commit refs/heads/${branch}\ncommitter U <u@example.com> ${1_700_000_000 + n} +0000\n`,
      `data ${Buffer.byteLength(message)}\n${message}`,
      n === 0 ? `from ${from}\n` : '',
      `M 100644 inline ${TASK_FILE}\ndata ${Buffer.byteLength(bytes)}\n${bytes}\n`,
    );
  }
  clone.write('.git/often', parts.join(''));
  clone.git('-c', 'alias.load=!git fast-import --quiet --force < .git/often', 'load');
}
