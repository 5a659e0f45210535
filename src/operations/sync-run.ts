import type { OutputOf } from '#contract/declare.ts';
import type { syncTasks as declaration } from '#contract/sync-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { syncTasks } from '#sync/sync-tasks.ts';
import { TASKS_PATH } from '#sync/task-files.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const syncRun = implement<typeof declaration>({
  async run(ctx, input) {
    const synced = await syncTasks(ctx.project, {
      by: await writerOf(ctx),
      machine: ctx.machine,
      remote: input.remote ?? 'origin',
      named: input.remote !== undefined,
      offline: input.offline === true,
      tell: (line) => ctx.host.notice(line),
    });
    const gates = synced.gates.map(({ id, what }) => ({ id, what: [...what] }));
    return { ...synced, gates, config_lost: [...synced.config_lost] };
  },
  text(synced) {
    const { created, updated, deleted, reason, pushed, mode, changed } = synced;
    const came = created + updated + deleted;
    const lines = [
      came === 0
        ? 'Nothing new came in'
        : `Joined in: ${created} new, ${updated} changed, ${deleted} deleted tasks`,
    ];
    lines.push(...describeGates(synced));
    lines.push(...describeWorkflow(synced));
    if (synced.config_lost.length > 0)
      lines.push(
        escapeLine(
          `The config was changed here and in the remote (${synced.config_lost.join(', ')}): this clone's stands. The other: forge conflicts`,
        ),
      );
    if (reason !== null) lines.push(`Not exchanged with the remote: ${escapeLine(reason)}`);
    if (mode === 'branch')
      lines.push(pushed ? 'The remote has every task of this clone' : 'Nothing was pushed');
    else if (mode === 'stealth' && changed) lines.push(`${TASKS_PATH} was written`);
    else if (changed)
      lines.push('Tasks of this clone are not committed yet. Next: forge commit, git pull, git push');
    else if (came > 0) lines.push('Your branch has them after the next git pull');
    return lines.join('\n');
  },
});

/** So many are named. */
const NAMED = 10;

/** Who syncs must not find out later that a task is checked by nothing any more. */
function describeGates({ gates }: OutputOf<typeof declaration>): string[] {
  const named = gates
    .slice(0, NAMED)
    .map(({ id, what }) => escapeLine(`  ${what.join(', ')} of ${id} changed: forge task history ${id}`));
  return gates.length > NAMED ? [...named, `  and of ${gates.length - NAMED} more tasks`] : named;
}

function describeWorkflow({ workflow, other_workflow: other }: OutputOf<typeof declaration>): string[] {
  const show = other === null ? '' : `git show ${other}`;
  switch (workflow) {
    case 'same':
      return [];
    case 'sent':
      return ['The workflow goes out as it is in this clone'];
    case 'taken':
      return [`The workflow is now the remote's${show === '' ? '' : `; the one before: ${show}`}`];
    case 'conflict':
      return [
        "The workflow was changed here and in the remote: this clone's stands",
        `  The other: ${show} > other.json; to take it: forge workflow set other.json; then: forge resolve workflow`,
      ];
    case 'broken_here':
      return ['The workflow of this clone has faults and stays here. Next: forge workflow validate'];
    case 'broken_there':
      return [`The remote's workflow has faults and was not taken: ${show}`];
  }
}
