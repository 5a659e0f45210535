import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { importTasks } from '#contract/sync-operations.ts';
import { encodeRecord } from '#domain/record-codec.ts';
import { textValue, type TaskRecord } from '#domain/task-record.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import { escapeLine } from '#kernel/text.ts';
import type { FileLine, FoldReport } from '#store/replication.ts';
import { foldFile as joinFile, readImport, toTextFold } from '#sync/fold-request.ts';
import { readPipe } from '#sync/read-pipe.ts';
import { readTaskFileAt } from '#sync/read-task-file-at.ts';
import { readTrackerTasks } from '#sync/read-tracker-tasks.ts';
import { splitText } from '#sync/read-file-lines.ts';
import { TASKS_PATH } from '#sync/task-files.ts';
import { implement, type OperationContext } from './operation.ts';
import type { InputOf, OutputOf } from '#contract/declare.ts';
import { writerOf } from './writer.ts';

type Input = InputOf<typeof importTasks>;
type Output = OutputOf<typeof importTasks>;

export const syncImport = implement<typeof importTasks>({
  async run(ctx, input) {
    checkInput(input);
    if (input.from !== undefined) return importFromTracker(ctx, input);
    if (input.path === undefined && input.ref === undefined) return importOwnFile(ctx);
    const dry_run = input.dry_run === true;
    if (input.path !== undefined && isRegularFile(resolve(ctx.cwd, input.path))) {
      const report = await foldFile(ctx, input.path, dry_run);
      if (hasNothing(report))
        throw await refuseFile(input.path, await readPipe(resolve(ctx.cwd, input.path)));
      return toOutput(input.path, report, { dry_run });
    }
    const { source, bytes } = await readSource(ctx, input);
    const lines = [...splitText(bytes.toString('utf8'))];
    const report = await foldLines(ctx, source, { lines, dry_run });
    if (hasNothing(report)) throw await refuseFile(source, bytes);
    return toOutput(source, report, { dry_run });
  },
  text(output) {
    const { created, updated, deleted, unchanged, dry_run } = output;
    const would = dry_run ? 'Would bring' : 'Imported';
    return [
      `${would} ${created} new, ${updated} changed and ${deleted} deleted tasks from ${escapeLine(output.source)}; ${unchanged} say nothing new`,
      ...output.tasks.map(
        ({ id, title, their_id }) => `  ${id}  ${escapeLine(title)}  (${escapeLine(their_id)})`,
      ),
      ...output.unreadable.map(
        ({ number, why }) =>
          `  ${number === 0 ? 'a line' : `line ${number}`} cannot be read: ${escapeLine(why)}`,
      ),
      ...(output.unreadable_more === undefined ? [] : [`  and ${output.unreadable_more} more lines`]),
      ...output.notes.map(({ where, field, what }) =>
        escapeLine(`  ${where}: ${field === undefined ? '' : `${field} `}${what}`),
      ),
    ].join('\n');
  },
});

function checkInput({ from, path, ref }: Input): void {
  if (from !== undefined && path === undefined) {
    throw new ForgeError('invalid_input', `Where are the tasks of ${from}? Name its folder or file`, {
      hint: `forge import --from ${from} <path>`,
    });
  }
  if (ref !== undefined && (path !== undefined || from !== undefined)) {
    throw new ForgeError('invalid_input', 'Either a revision or a path, not both');
  }
}

/** The file was folded when the project was opened, as before every command; what came of it then is the answer. */
async function importOwnFile(ctx: OperationContext): Promise<Output> {
  const { folded } = ctx.project;
  if (folded.fault !== undefined) throw folded.fault;
  return toOutput(TASKS_PATH, folded.tasks ?? EMPTY, { dry_run: false });
}

async function importFromTracker(ctx: OperationContext, input: Input): Promise<Output> {
  const { from, path = '', dry_run = false } = input;
  if (from === undefined) throw new Error('asked for another tool without one');
  const { config } = ctx.project;
  const place = resolve(ctx.cwd, path);
  const found = readTrackerTasks(from, place, { idPrefix: config.idPrefix, now: ctx.clock.now() });
  const lines = found.records.map((record, at) => ({ text: toUnstampedLine(record), number: at + 1 }));
  const report = await foldLines(ctx, `${from}:${place}`, { lines, dry_run });
  const titles = new Map(found.records.map((record) => [record.id, textValue(record, 'title')]));
  const tasks = [...found.ids].map(([their_id, id]) => ({ id, title: titles.get(id) ?? '', their_id }));
  return toOutput(path, report, { dry_run, notes: found.notes, tasks });
}

/**
 * Without stamps: with them, everything that the other tool lacks counted as taken out when the task was last changed
 * there. So only what differs from what the same import showed before is a change.
 */
function toUnstampedLine(record: TaskRecord): string {
  const { _v, ...plain } = readJson(encodeRecord(record)) as JsonObject; // it was just written
  return JSON.stringify(plain);
}

async function readSource(ctx: OperationContext, input: Input): Promise<{ source: string; bytes: Buffer }> {
  const { ref, path = '' } = input;
  if (ref !== undefined) {
    const bytes = await readTaskFileAt(ctx.project.paths, ref, ctx.machine);
    if (bytes !== undefined) return { source: `${ref}:${TASKS_PATH}`, bytes };
    throw new ForgeError('not_found', `There is no ${TASKS_PATH} in ${ref}`, {
      hint: 'git branch --all',
      details: { ref },
    });
  }
  const bytes = await readPipe(resolve(ctx.cwd, path));
  if (bytes !== undefined) return { source: path, bytes };
  throw new ForgeError('not_found', `There is no file ${path}`, { details: { path } });
}

/** What can be read a piece at a time, and twice; a pipe cannot. */
function isRegularFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // reading it says what is wrong
  }
}

async function foldFile(ctx: OperationContext, path: string, dry_run: boolean): Promise<FoldReport> {
  const { store, paths } = ctx.project;
  const file = resolve(ctx.cwd, path);
  const by = await writerOf(ctx);
  const request = { ...readImport(`import:${path}`, file, () => ctx.clock.now()), dry_run };
  const how = { file, copies: paths.store_dir, meter: ctx.host.meter, label: 'Importing tasks' };
  return joinFile(request, (one) => store.foldTasks(one, by), how);
}

/** Not one line is a task: what was given is something else. */
function hasNothing({ created, updated, deleted, unchanged, unreadable }: typeof EMPTY): boolean {
  return created + updated + deleted + unchanged === 0 && unreadable.length > 0;
}

async function refuseFile(source: string, bytes: Buffer | undefined): Promise<ForgeError> {
  const { guessTracker } = await import('#sync/guess-tracker.ts');
  const tool = bytes && guessTracker(bytes);
  const place = /^[\w.,/@+-]+$/.test(source) ? source : '<path>';
  return tool === undefined
    ? new ForgeError('invalid_input', `Nothing in ${source} can be read as a task`, {
        hint: 'forge import --help',
        details: { source },
      })
    : new ForgeError(
        'invalid_input',
        `Nothing in ${source} can be read as a task of Forge; it looks like ${tool}`,
        {
          hint: `forge import --from ${tool} ${place}`,
          details: { source, looks_like: tool },
        },
      );
}

async function foldLines(
  ctx: OperationContext,
  key: string,
  { lines, dry_run }: { lines: readonly FileLine[]; dry_run: boolean },
): Promise<FoldReport> {
  const now = ctx.clock.now();
  // Asked for by name, it is read again, whatever is remembered of it.
  const digest = String(now);
  return ctx.project.store.foldTasks(
    toTextFold(`import:${key}`, lines, { digest, dry_run, now }),
    await writerOf(ctx),
  );
}

const EMPTY: Pick<
  FoldReport,
  'created' | 'updated' | 'deleted' | 'unchanged' | 'unreadable' | 'unreadable_more'
> = {
  created: 0,
  updated: 0,
  deleted: 0,
  unchanged: 0,
  unreadable: [],
};

function toOutput(
  source: string,
  report: typeof EMPTY,
  more: Pick<Output, 'dry_run'> & { notes?: readonly Output['notes'][number][]; tasks?: Output['tasks'] },
): Output {
  const { created, updated, deleted, unchanged, unreadable, unreadable_more } = report;
  const more_lines = unreadable_more === undefined ? {} : { unreadable_more };
  const counts = { created, updated, deleted, unchanged, unreadable, ...more_lines };
  return {
    source,
    ...counts,
    dry_run: more.dry_run,
    notes: [...(more.notes ?? [])],
    tasks: more.tasks ?? [],
  };
}
