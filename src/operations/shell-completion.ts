import type { completionScript } from '#contract/project-operations.ts';
import { implement } from './operation.ts';

const SCRIPTS = {
  bash: async () => (await import('./bash-completion.ts')).bashCompletion,
  zsh: async () => (await import('./zsh-completion.ts')).zshCompletion,
  fish: async () => (await import('./fish-completion.ts')).fishCompletion,
};

export const shellCompletion = implement<typeof completionScript>({
  // Loaded when asked for: the summaries are in the declarations, which bring Zod with them.
  async run(_ctx, { shell }) {
    const [{ OPERATIONS }, { FLAG_TABLE }, { createCompletionModel }, write] = await Promise.all([
      import('#contract/operations.ts'),
      import('./flag-table.generated.ts'),
      import('./completion-model.ts'),
      SCRIPTS[shell](),
    ]);
    return { shell, script: write(createCompletionModel(OPERATIONS, FLAG_TABLE)) };
  },
  text: ({ script }) => script.trimEnd(),
});
