import type { runServer } from '#contract/server-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';

export const serverRun = implement<typeof runServer>({
  // Answers as soon as the server does; the listening socket keeps the process alive.
  async run(ctx, input) {
    const { url, pid, token_file, projects } = await ctx.host.serve(input);
    return { url, pid, token_file, projects: [...projects] };
  },
  text({ url, token_file, projects }) {
    const served = projects.map(
      ({ name, prefix, path }) => `  ${prefix}  ${escapeLine(name)}  (${escapeLine(path)})`,
    );
    return [
      `Forge listens on ${url}`,
      ...(served.length > 0 ? served : ['  No project yet: forge project add <name> <path>']),
      `Token: ${escapeLine(token_file)}`,
      'Stop it with Ctrl-C.',
    ].join('\n');
  },
});
