import type { runServer } from '#contract/server-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';

export const serverRun = implement<typeof runServer>({
  // Answers as soon as the server does; the listening socket keeps the process alive.
  async run({ host }, input) {
    const { url, pid, token_file, projects } = await host.serve(input);
    for (const { name, prefix, path } of projects)
      host.progress(`Serves ${prefix}  ${escapeLine(name)}  (${escapeLine(path)})`);
    if (projects.length === 0) host.progress('There is no project yet: forge project add <name> <path>');
    return { url, pid, token_file };
  },
  text: ({ url, token_file }) =>
    [`Forge listens on ${url}`, `Token: ${escapeLine(token_file)}`, 'Stop it with Ctrl-C.'].join('\n'),
});
