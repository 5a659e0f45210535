import { ForgeError } from '#kernel/errors.ts';
import { askGit, type GitRepo, startWithGit, streamFromGit } from './ask-git.ts';
import { toGitFailure } from './run-git.ts';

/**
 * The bytes of a file as they are in a commit; undefined where the revision or the path is not there, or is not a
 * file. A file that the commit has but the object store has lost is an error: taken for absent, it would be deleted.
 */
export async function readBlob(repo: GitRepo, rev: string, path: string): Promise<Buffer | undefined> {
  await using reader = openBlobReader(repo);
  return await reader.read(rev, path);
}

export interface BlobReader extends AsyncDisposable {
  /** As `readBlob`. One at a time: await it before the next. */
  read(rev: string, path: string): Promise<Buffer | undefined>;
  /** By its id; undefined where that is no file of the repository. One at a time, too. */
  readObject(oid: string): Promise<Buffer | undefined>;
}

/** For many files: they are all read through one process. */
export function openBlobReader(repo: GitRepo): BlobReader {
  const git = startWithGit(repo, ['cat-file', '--batch']);
  const answers = readAnswers(git.stdout);
  const ask = async (name: string): Promise<Buffer | 'missing' | 'other'> => {
    git.stdin.write(`${name}\n`);
    const answer = await answers.next();
    if (answer.done !== true) return answer.value;
    await git.ended;
    throw new ForgeError('io_failed', 'git cat-file ended before it had answered');
  };
  return {
    async read(rev, path) {
      // A newline would be a second question; such a name is asked for by its id.
      const name = `${rev}:${path}`;
      const asked = /[\n\0]/.test(name) ? await resolveName(repo, name) : name;
      const answer = asked === undefined ? 'missing' : await ask(asked);
      if (typeof answer !== 'string') return answer;
      if (answer === 'missing' && asked !== undefined) await checkNotLost(repo, rev, path);
      return undefined;
    },
    async readObject(oid) {
      const answer = await ask(oid);
      return typeof answer === 'string' ? undefined : answer;
    },
    [Symbol.asyncDispose]: () => git[Symbol.asyncDispose](),
  };
}

/** cat-file says "missing" for both: a path that is not in the tree, and one whose object is gone. */
async function checkNotLost(repo: GitRepo, rev: string, path: string): Promise<void> {
  const object = await resolveName(repo, `${rev}:${path}`);
  if (object === undefined || (await isSubmodule(repo, rev, path))) return;
  throw new ForgeError('io_failed', `git has lost ${path} of ${rev} (object ${object})`, {
    hint: 'git fsck, then fetch the object from another clone',
    details: { rev, path, object },
  });
}

/** Its commit is in the submodule's own repository, so it is never here. */
async function isSubmodule(repo: GitRepo, rev: string, path: string): Promise<boolean> {
  const result = await askGit(repo, ['ls-tree', '-z', '--full-tree', '--end-of-options', rev, '--', path]);
  return result.stdout.startsWith('160000 ');
}

/** One answer a question: a line that says what comes, then that many bytes and a newline. */
async function* readAnswers(stdout: AsyncIterable<Buffer>): AsyncGenerator<Buffer | 'missing' | 'other'> {
  let chunks: Buffer[] = [];
  let length = 0;
  let wanted: { readonly size: number; readonly type: string } | undefined;
  for await (const chunk of stdout) {
    chunks.push(chunk);
    length += chunk.length;
    // Joined only when there is enough: a large file comes in thousands of pieces.
    while (wanted === undefined || length > wanted.size) {
      const all: Buffer = Buffer.concat(chunks);
      const end: number = wanted?.size ?? all.indexOf(0x0a);
      chunks = [all];
      if (end === -1) break;
      chunks = [all.subarray(end + 1)];
      length = all.length - end - 1;
      if (wanted === undefined) {
        const [, type, size] = /^[0-9a-f]+ (\w+) (\d+)$/.exec(all.toString('utf8', 0, end)) ?? [];
        if (type === undefined) yield 'missing';
        else wanted = { size: Number(size), type };
      } else {
        const { type }: { type: string } = wanted;
        wanted = undefined;
        yield type === 'blob' ? all.subarray(0, end) : 'other';
      }
    }
  }
}

/** The id of the commit that a revision names (branch, tag, `HEAD~2`, id); undefined where it names none. */
export function resolveRev(repo: GitRepo, rev: string): Promise<string | undefined> {
  return resolveName(repo, `${rev}^{commit}`);
}

async function resolveName(repo: GitRepo, name: string): Promise<string | undefined> {
  // No name of git's holds a NUL, and no argument can; one with ^ before it says what is left out of a list.
  if (name.includes('\0') || name.startsWith('^')) return undefined;
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', name];
  const result = await askGit(repo, args);
  if (result.exit === 0) return result.stdout.trim();
  if (result.exit === 1) return undefined;
  // 128 for a name that git cannot read as one, but also for a broken repository.
  if (/not a git repository|dubious ownership|bad config/.test(result.stderr))
    throw toGitFailure(args, result);
  return undefined;
}

export interface FileVersion {
  readonly commit: string;
  /** Compare with these to see what the commit changed; neighbours in the list may be of different branches. */
  readonly parents: readonly string[];
  readonly author: string;
  readonly author_email: string;
  /** ISO 8601 with the author's zone. */
  readonly date: string;
  readonly subject: string;
}

/**
 * Every commit that changed a path, newest first by commit date, as git finds them. Of HEAD's history unless `from`
 * names other revisions, or `every ref`; side branches whose change a merge did not keep are among them.
 */
export async function* listVersions(
  repo: GitRepo,
  path: string,
  options: { readonly from?: readonly string[] | 'every ref'; readonly signal?: AbortSignal } = {},
): AsyncGenerator<FileVersion> {
  const { from = ['HEAD'], signal } = options;
  const revs = from === 'every ref' ? ['--all'] : await resolveAll(repo, from);
  if (revs.length === 0 || path.includes('\0')) return;
  const args = ['log', '-z', '--no-follow', '--full-history', `--format=${FIELDS.join('%x00')}`, ...revs];
  const fields = streamFromGit(repo, [...args, '--', `:(top,literal)${path}`], { ...(signal && { signal }) });
  let version: string[] = [];
  for await (const field of fields) {
    version.push(field);
    if (version.length < FIELDS.length) continue;
    yield toVersion(version);
    version = [];
  }
}

const FIELDS = ['%H', '%P', '%an', '%ae', '%aI', '%s'];

function toVersion(fields: readonly string[]): FileVersion {
  const [commit = '', parents = '', author = '', email = '', date = '', subject = ''] = fields;
  return {
    commit,
    parents: parents === '' ? [] : parents.split(' '),
    author,
    author_email: email,
    date,
    subject,
  };
}

async function resolveAll(repo: GitRepo, revs: readonly string[]): Promise<string[]> {
  const found = await Promise.all(revs.map((rev) => resolveRev(repo, rev)));
  return found.filter((commit) => commit !== undefined);
}
