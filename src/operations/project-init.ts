import type { InputOf, OutputOf } from '#contract/declare.ts';
import type { initProject } from '#contract/project-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { toStoreFiles } from '#store/store-location.ts';
import { changeMode } from '#sync/change-mode.ts';
import { toProjectId } from '#sync/project-id.ts';
import { findProject } from '#sync/find-project.ts';
import { implement, type OperationContext } from './operation.ts';
import { writerOf } from './writer.ts';

export const projectInit = implement<typeof initProject>({
  async run(ctx, input) {
    if (input.upgrade === true) return upgrade(ctx, input);
    return ctx.host.initProject(input);
  },
  text(project) {
    if (project.upgraded === true) {
      const moved = `The project "${escapeLine(project.name)}" is in ${project.mode} mode now`;
      return [moved, ...project.notes.map((note) => `  ${escapeLine(note)}`)].join('\n');
    }
    const what = project.adopted
      ? `This clone is ready for the Forge project "${escapeLine(project.name)}"`
      : `Initialized Forge project "${escapeLine(project.name)}" in ${escapeLine(project.directory)}`;
    const notes = project.notes.map((note) => `  ${escapeLine(note)}`);
    const next = project.adopted ? 'Next: forge ready' : 'Next: forge task create "My first task"';
    const ids = `Task ids begin with ${project.idPrefix}-.`;
    const sharing = project.adopted ? ids : `${ids} ${SHARING[project.mode]}`;
    return [what, sharing, ...notes, next].join('\n');
  },
});

const SHARING = {
  standard: 'Commit .forge, .gitignore and .gitattributes to share the project.',
  stealth: 'Nothing of it is visible to git.',
  branch: 'To share the tasks: forge sync; your branches stay as they are.',
} as const;

async function upgrade(
  ctx: OperationContext,
  input: InputOf<typeof initProject>,
): Promise<OutputOf<typeof initProject>> {
  if (input.stealth === true) {
    throw new ForgeError('invalid_input', 'A project that is shared cannot become stealthy again', {
      hint: 'forge uninstall --yes, then forge init --stealth, then forge import <copy>',
    });
  }
  const found = findProject(ctx.cwd, ctx.machine.env, ctx.machine.homeDir);
  await using project = await ctx.openProject(found);
  const by = await writerOf(ctx);
  const changed = await changeMode(project, { by, machine: ctx.machine, branch: input.branch });
  const { name, idPrefix, version, created_at } = found.config;
  const { forge_dir: directory, store } = found.paths;
  const { database } = toStoreFiles(store);
  const commit = changed.commit === null ? [] : [`Committed: ${changed.commit.slice(0, 10)}`];
  const notes = [...commit, ...changed.notes];
  return {
    name,
    idPrefix,
    project_id: toProjectId(found.config),
    version,
    created_at,
    directory,
    database,
    mode: changed.to,
    adopted: false,
    upgraded: true,
    notes,
  };
}
