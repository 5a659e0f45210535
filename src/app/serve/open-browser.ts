import { runProgram } from '#process/run-program.ts';

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};

/** Opens a link that logs the browser in. Never rejects: where there is no browser, the address is told. */
export async function openInBrowser(
  url: string,
  token: string,
  { env, cwd, notice }: { env: NodeJS.ProcessEnv; cwd: string; notice: (line: string) => void },
): Promise<void> {
  try {
    const answer = await fetch(`${url}/api/v1/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    const link = ((await answer.json()) as { url?: unknown }).url;
    if (typeof link !== 'string') throw new Error(`the server answered ${answer.status}`);
    const [opener, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
    const { exit } = await runProgram(opener, [...args, link], { cwd, env });
    // Windows' explorer ends with 1 whatever it did.
    if (exit !== 0 && process.platform !== 'win32') throw new Error(`${opener} ended with ${exit}`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    notice(`The browser could not be opened (${why}); open ${url} by hand`);
  }
}
