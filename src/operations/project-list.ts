import type { OutputOf } from '#contract/declare.ts';
import type { listProjects as declaration } from '#contract/home-operations.ts';
import { isForgeError } from '#kernel/errors.ts';
import { openTaskReader } from '#store/open-task-reader.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import { findRegistered, listProjects, type RegisteredProject } from '#sync/project-registry.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

type Row = OutputOf<typeof declaration>[number];

export const projectList = implement<typeof declaration>({
  run: async (ctx) => listProjects(ctx.place.home).map((project) => look(project, ctx.place)),
  text(projects, view) {
    if (projects.length === 0) return 'No project is registered. Register this one: forge project add';
    const count = (n: number | null): string => (n === null ? '-' : String(n));
    return tableText<Row>(
      view,
      [
        { header: 'NAME', value: ({ name }) => name, style: (text) => style(view, 'bold', text) },
        { header: 'PREFIX', value: ({ prefix }) => prefix },
        { header: 'OPEN', value: ({ open }) => count(open), align: 'right' },
        { header: 'READY', value: ({ ready }) => count(ready), align: 'right' },
        { header: 'BUSY', value: ({ in_progress }) => count(in_progress), align: 'right' },
        {
          header: 'PATH',
          value: ({ path, problem, paused_at }) => {
            const note = problem ?? (paused_at === null ? null : 'paused');
            return note === null ? path : `${path}  (${note})`;
          },
          flexible: true,
          minimum: 24,
          style: (text, { problem }) => (problem === null ? text : style(view, 'red', text)),
        },
      ],
      projects,
    );
  },
});

/** Counts are read as they stand: listing projects must not change one. */
function look(project: RegisteredProject, place: HomePlace): Row {
  const none = { open: null, in_progress: null, ready: null, paused_at: null };
  let there = false;
  try {
    const { paths } = findRegistered(project, place);
    there = true;
    using reader = openTaskReader(paths.store);
    const { open, in_progress, ready } = reader.countTasks();
    const paused_at = reader.readPause();
    return { ...project, there, problem: null, open, in_progress, ready, paused_at };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    const problem = there ? error.message : 'not there';
    return { ...project, there, problem, ...none };
  }
}
