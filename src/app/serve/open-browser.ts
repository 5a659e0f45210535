import { runProgram } from '#process/run-program.ts';

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};

/** Opens a link that logs the browser in. Never rejects: where there is no browser, the link is told. */
export async function openInBrowser(
  createLink: () => string,
  { env, cwd, notice }: { env: NodeJS.ProcessEnv; cwd: string; notice: (line: string) => void },
): Promise<void> {
  const [opener, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  let link: string | undefined;
  try {
    link = createLink();
    const { exit } = await runProgram(opener, [...args, link], { cwd, env });
    // Windows' explorer ends with 1 whatever it did.
    if (exit !== 0 && process.platform !== 'win32') throw new Error(`${opener} ended with ${exit}`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const way = link === undefined ? '' : ` Open this within a minute, it works once: ${link}`;
    notice(`The browser could not be opened (${why}).${way}`);
  }
}
