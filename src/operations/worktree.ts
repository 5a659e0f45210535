import type { OutputOf } from '#contract/declare.ts';
import type { makeWorktree as declaration } from '#contract/workspace-operations.ts';
import { ERROR_CODES, type ErrorBody, ForgeError } from '#kernel/errors.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import { findRegistered, listProjects } from '#sync/project-registry.ts';
import { implement } from './operation.ts';
import { worktreeText } from './workspace-open.ts';

type Worktree = OutputOf<typeof declaration>;

export const worktree = implement<typeof declaration>({
  async run(ctx, { project, task, attempt }) {
    const root = findRoot(ctx.place, project);
    const which = attempt === undefined ? [] : ['--attempt', String(attempt)];
    const words = ['workspace', 'open', '--json', ...which, ...(task === undefined ? [] : ['--', task])];
    // As if it was typed there: the project's own settings, trust and locks count.
    const { stdout, stderr } = await ctx.host.run('forge', words, { cwd: root });
    return readAnswer(stdout, stderr);
  },
  text: worktreeText,
});

function findRoot(place: HomePlace, wanted: string): string {
  const projects = listProjects(place.home);
  const found =
    projects.find(({ name }) => name === wanted) ?? projects.find(({ prefix }) => prefix === wanted);
  if (found !== undefined) return findRegistered(found, place).paths.root;
  throw new ForgeError('not_found', `No project ${JSON.stringify(wanted)} is registered`, {
    // Its name could be anything, also what another command would take for a flag.
    hint: `forge project add ${/^\w[\w.-]*$/.test(wanted) ? wanted : '<name>'} <path of the repository>, or forge project list`,
    details: { name: wanted, known: projects.map(({ name }) => name) },
  });
}

/** Our own answer: the same program wrote it. */
function readAnswer(stdout: string, stderr: string): Worktree {
  let document: Worktree | { readonly error: ErrorBody };
  try {
    document = JSON.parse(stdout) as typeof document;
  } catch (error) {
    throw new ForgeError('internal', `The worktree could not be made: ${stderr.slice(-1_000)}`, {
      cause: error,
    });
  }
  if (!('error' in document)) return document;
  const { code, message, hint, details } = document.error;
  throw new ForgeError(Object.hasOwn(ERROR_CODES, code) ? code : 'internal', message, {
    ...(hint !== undefined && { hint }),
    details,
  });
}
