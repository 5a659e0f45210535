export interface Look {
  /** What git is told to start: hooks and the merge driver. */
  readonly script: string;
  /** What `homedir` says. */
  readonly home: string | undefined;
}

/** Of the work that is not over; the process looks as the last of it wants. */
const looks: Look[] = [];
let own: Look | undefined;

/**
 * `work` while this process looks like another. Files of tests share a process, so how it looked is put back when the
 * work is over.
 */
export async function lookLike<T>(look: Look, work: () => Promise<T>): Promise<T> {
  if (looks.length === 0) own = { script: process.argv[1] ?? '', home: process.env['HOME'] };
  looks.push(look);
  putOn(look);
  try {
    return await work();
  } finally {
    looks.splice(looks.indexOf(look), 1);
    putOn(looks.at(-1) ?? own ?? look);
  }
}

function putOn({ script, home }: Look): void {
  process.argv[1] = script;
  if (home === undefined) delete process.env['HOME'];
  else process.env['HOME'] = home;
}
