import { escapeLine, escapeText } from '#kernel/text.ts';
import { setTrailers, type Trailers } from './trailers.ts';

/** A commit as git stores it, with one character for each byte: its text may be in any encoding. */
export interface CommitText {
  readonly tree: string;
  readonly parents: readonly string[];
  /** Name, address and date, as they stand behind the word. */
  readonly author: string;
  readonly committer: string;
  /** Everything else between the committer and the message: a signature, an encoding, lines that git does not know. */
  readonly rest: string;
  readonly message: string;
}

/** Undefined for what git itself cannot read. One that lacks its author has none. */
export function parseCommit(body: string): CommitText | undefined {
  const [whole, tree, parents = '', author, committer, rest = ''] = COMMIT.exec(body) ?? [];
  if (whole === undefined || tree === undefined) return undefined;
  return {
    tree,
    parents: [...parents.matchAll(/[0-9a-f]{40,64}/g)].map(([oid]) => oid),
    author: author ?? NOBODY,
    committer: committer ?? author ?? NOBODY,
    rest,
    message: body.slice(whole.length),
  };
}

const COMMIT =
  /^tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)(?:author ([^\n]*)\n)?(?:committer ([^\n]*)\n)?((?:[^\n]+(?:\n|$))*)(?:\n|$)/;
const NOBODY = 'unknown <> 0 +0000';

export function formatCommit({ tree, parents, author, committer, rest, message }: CommitText): string {
  const lines = parents.map((oid) => `parent ${oid}\n`).join('');
  return `tree ${tree}\n${lines}author ${author}\ncommitter ${committer}\n${rest}\n${message}`;
}

/** A signature is one of other bytes as soon as anything else is changed. */
export function dropSignature(commit: CommitText): CommitText {
  return { ...commit, rest: commit.rest.replaceAll(/^gpgsig(?:-sha256)? .*\n(?: .*\n)*/gm, '') };
}

/**
 * The commit with nothing in its text that could move a cursor, hide words or show them in another order. In UTF-8:
 * under another encoding the same bytes may be other characters, line ends among them. Of the lines before the message
 * only those stay that every commit has.
 */
export function cleanCommit(commit: CommitText): CommitText {
  const encoding = findEncoding(commit);
  // Bytes of no known encoding are taken for the letters that they are in most of the old ones.
  const read = (bytes: string): string => tryDecode(bytes, encoding) ?? tryDecode(bytes, 'utf-8') ?? bytes;
  return {
    ...commit,
    author: toBytes(escapeLine(read(commit.author))),
    committer: toBytes(escapeLine(read(commit.committer))),
    rest: '',
    message: toBytes(escapeText(read(commit.message).replaceAll('\r\n', '\n'))),
  };
}

/** Whether its text can be shown as it is. One in an encoding that is not known cannot be judged. */
export function isCleanCommit(commit: CommitText): boolean {
  const clean = cleanCommit(commit);
  const parts = ['author', 'committer', 'message'] as const;
  const encoding = findEncoding(commit);
  return parts.every((part) => {
    const text = tryDecode(commit[part], encoding)?.replaceAll('\r\n', '\n');
    return text !== undefined && toBytes(text) === clean[part];
  });
}

/** The commit of an agent, with the trailers of its attempt and no others of Forge's. */
export function nameAttempt(commit: CommitText, trailers: Trailers): CommitText {
  const message = setTrailers(toText(commit.message), trailers);
  return { ...commit, message: toBytes(message) };
}

function findEncoding({ rest }: CommitText): string {
  return /^encoding (.*)$/m.exec(rest)?.[1] ?? 'utf-8';
}

/** Undefined for an encoding that is not known, and for other bytes than it has. */
function tryDecode(bytes: string, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}

function toText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function toBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
