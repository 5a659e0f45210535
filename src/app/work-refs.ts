import { WORK_FIELDS } from '#contract/work-fields.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { ServerProject } from './serve/server-project.ts';

/** A run or an attempt that a call names: by its id, or the beginning of it. */
export interface WorkName {
  readonly kind: 'run' | 'attempt';
  readonly ref: string;
}

/** The one that the input of an operation is about; what names a task is found by that. */
export function toWorkName(
  operation: string,
  input: Readonly<Record<string, unknown>>,
): WorkName | undefined {
  const field = WORK_FIELDS.get(operation);
  const ref = field === undefined ? undefined : input[field];
  if (typeof ref !== 'string') return undefined;
  return { kind: operation.startsWith('run.') && field === 'id' ? 'run' : 'attempt', ref };
}

/** The project that has it. Ids are random, so that only a short beginning can be that of several. */
export async function findByWork(
  projects: readonly ServerProject[],
  work: WorkName,
): Promise<ServerProject | undefined> {
  const found: ServerProject[] = [];
  for (const project of projects) if (await holds(project, work)) found.push(project);
  const [first, second] = found;
  if (second === undefined) return first;
  throw new ForgeError('ambiguous_id', `${work.ref} begins a ${work.kind} of several projects`, {
    hint: `the whole id, or ?project=${first?.prefix ?? ''}`,
    details: { id: work.ref, projects: found.map(({ prefix }) => prefix) },
  });
}

async function holds(project: ServerProject, { kind, ref }: WorkName): Promise<boolean> {
  try {
    await project.use(async ({ store }) => {
      if (kind === 'run') await store.getRun(ref);
      else await store.getAttempt(ref);
    });
    return true;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    // One that begins several of its ids is for the project to refuse.
    return error.code === 'ambiguous_id';
  }
}
