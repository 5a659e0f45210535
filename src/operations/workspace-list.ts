import type { OutputOf } from '#contract/declare.ts';
import type { listWorkspaces as declaration, Workspace } from '#contract/workspace-operations.ts';
import { FolderSizes } from '#engine/folder-sizes.ts';
import { measureFolder } from '#engine/measure-folder.ts';
import { byteSize } from '#kernel/byte-size.ts';
import { listKnown, toWorkspace, type KnownWorkspace } from './list-workspaces.ts';
import { implement, type Operation, type TextView } from './operation.ts';
import { SHORT_ID } from './run-text.ts';
import { tableText } from './table-text.ts';

const GIGABYTE = 1_000_000_000;

export const workspaceList = createWorkspaceList();

/** The sizes are of the whole process, because a server answers many who ask for the same. */
export function createWorkspaceList(
  measure: (path: string) => Promise<number> = measureFolder,
  now = () => performance.now(),
): Operation<typeof declaration> {
  const sizes = new FolderSizes(measure);
  const recall = (path: string): Promise<number> => sizes.read(path, now());
  return implement<typeof declaration>({
    async run(ctx, { all = false }) {
      const { place } = await ctx.workshop();
      const workspaces: Workspace[] = [];
      const sizeOf = ctx.stays === true ? recall : measure;
      for (const known of await listKnown(place, { all })) workspaces.push(await toMeasured(known, sizeOf));
      return {
        workspaces,
        total_bytes: workspaces.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0),
        limit_bytes: Math.round(place.settings().workspace.disk_limit_gb * GIGABYTE),
        root: place.root,
      };
    },
    text: toText,
  });
}

function toText(
  { workspaces, total_bytes, limit_bytes }: OutputOf<typeof declaration>,
  view: TextView,
): string {
  if (workspaces.length === 0) return 'No worktrees.';
  const table = tableText<Workspace>(
    view,
    [
      { header: 'ATTEMPT', value: ({ attempt_id }) => attempt_id.slice(0, SHORT_ID) },
      { header: 'TASK', value: ({ task_id }) => task_id ?? '-' },
      { header: 'AGENT', value: ({ agent }) => agent ?? '-', flexible: 'first', minimum: 8 },
      { header: 'STATE', value: ({ state, busy }) => (busy ? 'at work' : state) },
      { header: 'SIZE', value: ({ size_bytes }) => toSize(size_bytes), align: 'right' },
      { header: 'REMOVED', value: ({ removed_at, cleanup_at }) => removed_at ?? cleanup_at ?? '-' },
      { header: 'PATH', value: ({ path }) => path, flexible: true, minimum: 24 },
    ],
    workspaces,
  );
  return `${table}\n${toSize(total_bytes)} of ${toSize(limit_bytes)} in use`;
}

async function toMeasured(
  known: KnownWorkspace,
  sizeOf: (path: string) => Promise<number>,
): Promise<Workspace> {
  if ('own' in known) return toWorkspace(known, await sizeOf(known.own.checkout.path));
  const { path, removed_at } = known.attempt;
  return toWorkspace(known, removed_at === null ? await sizeOf(path) : null);
}

function toSize(bytes: number | null): string {
  return bytes === null ? '-' : byteSize(bytes);
}
