import type { createTask } from '#contract/task-operations.ts';
import { checkMetadata, checkSize } from '#domain/metadata.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskCreate = implement<typeof createTask>({
  async run(ctx, input) {
    const { store, config } = ctx.project;
    checkSize(input.description ?? '', 'The description', LIMITS.description_bytes);
    return store.createTask(
      {
        id_prefix: config.idPrefix,
        title: input.title,
        description: input.description ?? '',
        type: input.type ?? config.settings.defaultType,
        priority: input.priority ?? config.settings.defaultPriority,
        state: input.state ?? 'todo',
        parent_id: input.parent_id ?? null,
        assignee: input.assignee ?? null,
        labels: input.labels ?? [],
        github_issue: input.github_issue ?? null,
        depends_on: input.depends_on ?? [],
        metadata: checkMetadata(input.metadata_set ?? {}),
      },
      await writerOf(ctx),
    );
  },
  text: (task) => `Created task ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
});
