import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** One call that changed the disk, or made it durable, with absolute paths. */
export type DiskCall =
  | {
      readonly kind: 'open';
      readonly path: string;
      readonly create: boolean;
      readonly truncate: boolean;
      readonly append: boolean;
      readonly mode: number;
    }
  /** Without `at`: where the last write, or a seek, left the file's position. */
  | { readonly kind: 'write'; readonly path: string; readonly bytes: Buffer; readonly at?: number }
  | { readonly kind: 'seek'; readonly path: string; readonly at: number }
  | { readonly kind: 'resize'; readonly path: string; readonly size: number }
  | { readonly kind: 'rename' | 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  | { readonly kind: 'mode'; readonly path: string; readonly mode: number }
  /** It covers the calls that had returned when it began: so many of this trace. */
  | { readonly kind: 'sync'; readonly path: string; readonly covers: number };

const TRACED = `
  open openat openat2 creat lseek chdir fchdir
  write pwrite64 writev pwritev pwritev2 truncate ftruncate
  rename renameat renameat2 link linkat symlink symlinkat
  unlink unlinkat rmdir mkdir mkdirat chmod fchmod fchmodat
  fsync fdatasync
  mmap fallocate copy_file_range sendfile splice msync sync_file_range syncfs`
  .trim()
  .split(/\s+/);

/** Calls that would change or sync a file in a way that is not modelled: a trace with one of them is not used. */
const REFUSED = /^(fallocate|copy_file_range|sendfile|splice|msync|sync_file_range|syncfs|fchdir|openat2)$/;

/** The words to put before a command, so that all it writes is written down in `log`, byte for byte. */
export function recording(log: string): string[] {
  return ['strace', '-f', '-y', '-xx', '-s', `${1 << 24}`, '-o', log, '-e', `trace=${TRACED.join(',')}`];
}

/**
 * The calls of a trace that succeeded and are about files below `root`, in the order in which they returned. Shared
 * memory of SQLite is left out: it is made anew after a power cut.
 */
export function readDiskCalls(log: string, root: string): DiskCall[] {
  const calls: DiskCall[] = [];
  const unfinished = new Map<string, { readonly text: string; readonly covers: number }>();
  const folders = new Map<string, string>();
  for (const line of readFileSync(log, 'latin1').split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [begun] = rest.split(' <unfinished ...>');
    if (begun !== undefined && begun !== rest) {
      unfinished.set(thread, { text: begun, covers: calls.length });
      continue;
    }
    const [resumed] = /^<\.\.\. \w+ resumed>/.exec(rest) ?? [];
    const start = resumed === undefined ? undefined : unfinished.get(thread);
    const text = resumed === undefined ? rest : `${start?.text ?? ''}${rest.slice(resumed.length)}`;
    const found = parseCall(text, {
      covers: start?.covers ?? calls.length,
      folder: () => folders.get(thread),
      enter: (path) => void folders.set(thread, path),
    });
    if (found === undefined || !pathsOf(found).every((path) => isBelow(root, path))) continue;
    if (found.kind === 'unknown')
      throw new Error(`the model of the disk does not know ${found.name} of ${found.path}`);
    calls.push(found);
  }
  return calls;
}

/** A call that changes a file in a way that is not modelled. */
interface UnknownCall {
  readonly kind: 'unknown';
  readonly path: string;
  readonly name: string;
}

function pathsOf(call: DiskCall | UnknownCall): string[] {
  return 'from' in call ? [call.from, call.to] : [call.path];
}

function isBelow(root: string, path: string): boolean {
  return path.startsWith(`${root}/`) && !path.endsWith('-shm');
}

interface Around {
  readonly covers: number;
  /** The working directory of the thread, where the trace has told it. */
  readonly folder: () => string | undefined;
  enter(folder: string): void;
}

function parseCall(text: string, around: Around): DiskCall | UnknownCall | undefined {
  const [, name, inner, result] = /^(\w+)\((.*)\) += (-?\d+)/s.exec(text) ?? [];
  if (name === undefined || inner === undefined || Number(result) < 0) return undefined;
  const args = inner.split(', ');
  const arg = (at: number): string => args[at] ?? '';
  for (const one of args) {
    const at = /^AT_FDCWD<(.*)>$/.exec(one)?.[1];
    if (at !== undefined) around.enter(decode(at).toString());
  }
  const named = (at: number): string => absolute(around, undefined, arg(at));
  const beside = (at: number): string => absolute(around, arg(at), arg(at + 1));
  const opened = (): string => fileOf(arg(0));
  const written = (): Buffer => {
    const strings = [...inner.matchAll(/"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g)];
    if (strings.some(([, , cut]) => cut !== undefined)) throw new Error('the trace has cut a write');
    return Buffer.concat(strings.map(([, one]) => decode(one ?? ''))).subarray(0, Number(result));
  };
  if (REFUSED.test(name)) {
    // The file that is changed is the first argument, or the third: `copy_file_range`, `splice`.
    const path = /^(copy_file_range|splice)$/.test(name) ? fileOf(arg(2)) : opened();
    return { kind: 'unknown', path, name };
  }
  switch (name) {
    case 'chdir':
      around.enter(named(0));
      return undefined;
    case 'open':
    case 'creat':
    case 'openat': {
      const at = name === 'openat' ? 2 : 1;
      const flags = name === 'creat' ? 'O_WRONLY|O_CREAT|O_TRUNC' : arg(at);
      if (!/O_(WRONLY|RDWR|CREAT|TRUNC)/.test(flags)) return undefined;
      const [create, truncate, append] = ['O_CREAT', 'O_TRUNC', 'O_APPEND'].map((one) => flags.includes(one));
      const mode = toMode(arg(name === 'creat' ? 1 : at + 1));
      const path = name === 'openat' ? beside(0) : named(0);
      return {
        kind: 'open',
        path,
        create: create === true,
        truncate: truncate === true,
        append: append === true,
        mode,
      };
    }
    case 'write':
    case 'writev':
      return { kind: 'write', path: opened(), bytes: written() };
    case 'pwrite64':
    case 'pwritev':
      return { kind: 'write', path: opened(), bytes: written(), at: Number(args.at(-1)) };
    case 'pwritev2':
      return { kind: 'write', path: opened(), bytes: written(), at: Number(args.at(-2)) };
    case 'lseek':
      return { kind: 'seek', path: opened(), at: Number(result) };
    case 'truncate':
      return { kind: 'resize', path: named(0), size: Number(arg(1)) };
    case 'ftruncate':
      return { kind: 'resize', path: opened(), size: Number(arg(1)) };
    case 'rename':
    case 'link':
      return { kind: name, from: named(0), to: named(1) };
    case 'renameat':
    case 'renameat2':
    case 'linkat':
      return { kind: name === 'linkat' ? 'link' : 'rename', from: beside(0), to: beside(2) };
    case 'symlink':
      return { kind: 'symlink', target: toText(arg(0)), path: named(1) };
    case 'symlinkat':
      return { kind: 'symlink', target: toText(arg(0)), path: beside(1) };
    case 'unlink':
    case 'rmdir':
      return { kind: 'remove', path: named(0) };
    case 'unlinkat':
      return { kind: 'remove', path: beside(0) };
    case 'mkdir':
      return { kind: 'folder', path: named(0), mode: toMode(arg(1)) };
    case 'mkdirat':
      return { kind: 'folder', path: beside(0), mode: toMode(arg(2)) };
    case 'chmod':
      return { kind: 'mode', path: named(0), mode: toMode(arg(1)) };
    case 'fchmod':
      return { kind: 'mode', path: opened(), mode: toMode(arg(1)) };
    case 'fchmodat':
      return { kind: 'mode', path: beside(0), mode: toMode(arg(2)) };
    case 'fsync':
    case 'fdatasync':
      return { kind: 'sync', path: opened(), covers: around.covers };
    case 'mmap': {
      const isShared = /PROT_WRITE/.test(arg(2)) && arg(3).includes('MAP_SHARED');
      return isShared && !arg(3).includes('ANONYMOUS')
        ? { kind: 'unknown', path: fileOf(arg(4)), name }
        : undefined;
    }
    default:
      return undefined;
  }
}

/** Strings and paths are traced as the hexadecimal codes of their bytes, so that no character has to be escaped. */
function decode(text: string): Buffer {
  return Buffer.from(
    text.replace(/\\x([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
    'latin1',
  );
}

function toText(quoted: string): string {
  return decode(quoted.replace(/^"|"$/g, '')).toString();
}

/** The path that belongs to a file descriptor; a file that is deleted has none. */
function fileOf(descriptor: string): string {
  const [, path, deleted] = /^\d+<(.*)>(\(deleted\))?$/.exec(descriptor) ?? [];
  return path === undefined || deleted !== undefined ? '' : decode(path).toString();
}

function absolute({ folder }: Around, descriptor: string | undefined, quoted: string): string {
  const path = toText(quoted);
  if (path.startsWith('/')) return path;
  const from = descriptor === undefined || descriptor.startsWith('AT_FDCWD') ? folder() : fileOf(descriptor);
  if (from === undefined) throw new Error(`the trace does not tell where ${path} is`);
  return resolve(from, path);
}

function toMode(text: string): number {
  return /^0[0-7]*$/.test(text) ? parseInt(text, 8) : 0;
}
