import type { showTask } from '#contract/task-operations.ts';
import { PRIORITY_LABELS } from './priority-labels.ts';
import type { Comment, ResolvedDependency, TaskView } from '#contract/task.ts';
import { listEdges, standingState, type ResolvedWorkflow } from '#domain/workflow.ts';
import { isForgeError } from '#kernel/errors.ts';
import { escapeLine, escapeText } from '#kernel/text.ts';
import { implement, type OperationContext, type TextView } from './operation.ts';
import { style, stylePriority, styleStatus } from './style-text.ts';

export const taskShow = implement<typeof showTask>({
  async run(ctx, input) {
    const { store, foreign } = ctx.project;
    const found = await store.getTask(input.id);
    const task = {
      ...found,
      ...(found.error_annotation !== undefined && findRecovery(ctx, found)),
      ...(found.status === 'in_progress' && (await findAllowed(ctx, found))),
      ...(mayWait(ctx, found) && (await findWait(ctx, found))),
    };
    if (foreign.size === 0) return task;
    const { fillDependency } = await import('./fill-foreign.ts');
    return { ...task, dependencies: task.dependencies.map((edge) => fillDependency(edge, foreign)) };
  },
  text: (task, view) =>
    [
      heading(task, view),
      facts(task, view),
      task.description === '' ? '' : indent(escapeText(task.description)),
      section(view, 'Depends on', edgeLines(task.dependencies, view)),
      section(view, 'Needed by', [...edgeLines(task.dependents, view), ...andMore(task.dependents_more)]),
      section(view, `Subtasks (${task.closed_child_count} of ${task.child_count} closed)`, [
        ...task.subtasks.map(
          (child) =>
            `${escapeLine(child.id)}  ${escapeLine(child.title)}  [${styleStatus(view, child.status)}]`,
        ),
        ...andMore(task.subtasks_more),
      ]),
      section(view, 'Always allowed', (task.always_allowed ?? []).map(escapeLine)),
      section(view, 'Metadata', metadataLines(task)),
      section(view, 'Comments', commentLines(task.comments, view)),
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
});

async function findAllowed(
  { project: { store } }: OperationContext,
  { id }: TaskView,
): Promise<Pick<TaskView, 'always_allowed'>> {
  const rules = await store.listApprovals({ task_id: id, always: true });
  if (rules.length === 0) return {};
  const { describeRule } = await import('./run-text.ts');
  return { always_allowed: rules.map(describeRule) };
}

/** Whoever shows a task shows it also where the workflow has faults. */
function findRecovery(ctx: OperationContext, task: TaskView): Pick<TaskView, 'recovery_actions'> {
  const workflow = findWorkflow(ctx);
  if (workflow === undefined) return {};
  const edges = listEdges(workflow, standingState(workflow, task));
  const drawn = edges.filter(({ kind }) => kind === 'edge' || kind === 'cancel');
  return { recovery_actions: drawn.map(({ to }) => ({ action: 'transition', state: to })) };
}

/** Of an open task only one that was worked on, or that is parked: nothing is loaded for the others. */
function mayWait(ctx: OperationContext, { status, counters, state }: TaskView): boolean {
  if (status !== 'open') return status === 'in_progress';
  return counters.attempts > 0 || findWorkflow(ctx)?.parked_states.has(state) === true;
}

async function findWait(ctx: OperationContext, task: TaskView): Promise<Pick<TaskView, 'wait'>> {
  if (findWorkflow(ctx) === undefined) return {};
  const { waitOf } = await import('./wait-place.ts');
  return waitOf(ctx, task);
}

function findWorkflow({ project }: OperationContext): ResolvedWorkflow | undefined {
  try {
    return project.workflow();
  } catch (error) {
    if (isForgeError(error) && error.code === 'invalid_input') return undefined;
    throw error;
  }
}

function heading(task: TaskView, view: TextView): string {
  return `${style(view, 'bold', escapeLine(task.id))}  ${style(view, 'bold', escapeLine(task.title))}  [${styleStatus(view, task.status)}]`;
}

function facts(task: TaskView, view: TextView): string {
  const state = task.state === task.status ? '' : ` (${escapeLine(task.state)})`;
  const readiness =
    task.status === 'open'
      ? task.ready
        ? ', ready'
        : task.open_blockers > 0
          ? `, waits for ${task.open_blockers}`
          : ''
      : '';
  const rows: [string, string][] = [
    ['Status', `${styleStatus(view, task.status)}${state}${readiness}`],
    [
      'Priority',
      stylePriority(view, task.priority, `${task.priority} ${PRIORITY_LABELS[task.priority] ?? ''}`),
    ],
    ['Type', task.type],
    ['Owner', task.assignee === null ? 'nobody' : escapeLine(task.assignee)],
  ];
  for (const [role, holder] of Object.entries(task.roles ?? {}))
    rows.push(['Role', `${escapeLine(role)}: ${escapeLine('agent' in holder ? holder.agent : holder.user)}`]);
  rows.push(...waitRows(task));
  const counted = countLines(task.counters);
  if (counted !== '') rows.push(['Counted', counted]);
  if (task.archived_at !== undefined) rows.push(['Archived', task.archived_at]);
  if (task.close_reason !== undefined) rows.push(['Reason', escapeLine(task.close_reason)]);
  if (task.parent_id !== null) rows.push(['Parent', escapeLine(task.parent_id)]);
  if (task.labels.length > 0) rows.push(['Labels', escapeLine(task.labels.join(', '))]);
  if (task.github_issue !== null) rows.push(['GitHub', `#${task.github_issue}`]);
  rows.push(
    ['Created', `${task.created_at} by ${escapeLine(task.created_by)}`],
    ['Updated', task.updated_at],
  );
  if (task.closed_at !== null) rows.push(['Closed', task.closed_at]);
  return rows.map(([name, value]) => `${style(view, 'dim', name.padEnd(9))} ${value}`).join('\n');
}

function waitRows({ id, wait, error_annotation, recovery_actions = [] }: TaskView): [string, string][] {
  const message = wait?.message ?? error_annotation?.message;
  if (message === undefined) return [];
  const ways = recovery_actions.map(({ state }) => `forge task transition ${id} ${state}`);
  const commands = wait?.command === undefined ? ways : [wait.command];
  const goOn = commands.map((command): [string, string] => ['Go on', escapeLine(command)]);
  return [['Waits', escapeLine(message)], ...goOn];
}

function countLines({ attempts, reviews, rejections }: TaskView['counters']): string {
  const count = (n: number, one: string): string[] => (n === 0 ? [] : [`${n} ${n === 1 ? one : `${one}s`}`]);
  return [...count(attempts, 'attempt'), ...count(reviews, 'review'), ...count(rejections, 'rejection')].join(
    ', ',
  );
}

function edgeLines(edges: readonly ResolvedDependency[], view: TextView): string[] {
  return edges.map((edge, i) => edgeLine(view, edge, i === edges.length - 1 ? '└─' : '├─'));
}

function edgeLine(view: TextView, edge: ResolvedDependency, mark: string): string {
  if (edge.resolved === null) return `${mark} ${edge.type} ${escapeLine(edge.id)}  (not in this project)`;
  const { title, status, assignee, priority } = edge.resolved;
  const owner = assignee === null ? '' : `  ${escapeLine(assignee)}`;
  return `${mark} ${edge.type} ${escapeLine(edge.id)}  ${escapeLine(title)}  [${styleStatus(view, status)}]  ${stylePriority(view, priority)}${owner}`;
}

function andMore(count = 0): string[] {
  return count === 0 ? [] : [`and ${count} more`];
}

function metadataLines(task: TaskView): string[] {
  // An epic's counts stand above its subtasks already.
  const counted = task.type === 'epic' ? ['child_count', 'closed_child_count'] : [];
  const entries = Object.entries(task.metadata).filter(([key]) => !counted.includes(key));
  return entries.map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${escapeLine(key)} = ${indent(escapeText(text)).trimStart()}`;
  });
}

/** Answers stand under what they answer. */
function commentLines(comments: readonly Comment[], view: TextView): string[] {
  const lines: string[] = [];
  const known = new Set(comments.map((comment) => comment.id));
  const add = (parent: string | null, depth: number): void => {
    for (const comment of comments) {
      const above = comment.reply_to !== null && known.has(comment.reply_to) ? comment.reply_to : null;
      if (above !== parent) continue;
      const pad = '  '.repeat(Math.min(depth, 8));
      lines.push(
        `${pad}${style(view, 'dim', `${escapeLine(comment.id)}  ${comment.created_at}`)}  ${escapeLine(comment.author)}`,
      );
      lines.push(
        ...escapeText(comment.body)
          .split('\n')
          .map((line) => `${pad}  ${line}`),
      );
      add(comment.id, depth + 1);
    }
  };
  add(null, 0);
  return lines;
}

function section(view: TextView, title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return [style(view, 'bold', title), ...lines.map((line) => `  ${line}`)].join('\n');
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
}
