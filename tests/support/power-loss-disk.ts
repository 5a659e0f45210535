import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DiskCall } from './power-loss-trace.ts';

/** A file, folder or link of the modelled disk; its number is what names of folders lead to. */
export interface DiskNode {
  readonly id: number;
  readonly kind: 'file' | 'folder' | 'link';
  /** Where it was first, below the root. */
  readonly path: string;
  /** The bytes of a file when the recording began, or the target of a link. */
  readonly base: Buffer;
  mode: number;
}

export interface NameChange {
  readonly folder: number;
  readonly name: string;
  /** Undefined where the name is removed. */
  readonly to: number | undefined;
}

/** What a call did to the disk. */
export type DiskChange =
  | { readonly kind: 'data'; readonly file: number; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'size'; readonly file: number; readonly size: number }
  /** All names of one call change together. */
  | { readonly kind: 'names'; readonly names: readonly NameChange[] }
  /** What had been done to the file or folder before change number `before` survives a power cut. */
  | { readonly kind: 'sync'; readonly node: number; readonly before: number };

/** The recording of a disk: the tree that it began with, and every change since. */
export class RecordedDisk {
  readonly nodes: DiskNode[] = [];
  readonly baseNames: NameChange[] = [];
  readonly changes: DiskChange[] = [];
  readonly #root: string;
  /** The tree as the running programs see it. */
  readonly #names = new Map<number, Map<string, number>>();
  readonly #sizes = new Map<number, number>();
  readonly #positions = new Map<number, number>();
  readonly #appends = new Set<number>();

  /** The tree below `root` counts as durable. */
  constructor(root: string) {
    this.#root = root;
    this.#scan(root, this.#make('folder', root, Buffer.alloc(0), 0o755).id);
  }

  get length(): number {
    return this.changes.length;
  }

  /** Adds the calls of one trace. */
  record(calls: readonly DiskCall[]): void {
    /** How many changes there were after so many calls. */
    const after: number[] = [this.changes.length];
    for (const call of calls) {
      if (call.kind === 'sync') this.#sync(call.path, after[call.covers] ?? this.changes.length);
      else this.#apply(call);
      after.push(this.changes.length);
    }
  }

  /** As most editors save: a new file that is synced takes the place of the old one, and the folder is not synced. */
  place(path: string, bytes: Buffer): void {
    const { id: file } = this.#make('file', path, Buffer.alloc(0), 0o644);
    this.#sizes.set(file, bytes.length);
    this.changes.push({ kind: 'data', file, at: 0, bytes });
    this.changes.push({ kind: 'sync', node: file, before: this.changes.length });
    this.#rename([this.#name(path, file)]);
  }

  /** The number of the file that has this path now. */
  find(path: string): number | undefined {
    let at: number | undefined = 0;
    for (const name of relative(this.#root, path).split('/').filter(Boolean))
      at = at === undefined ? undefined : this.#names.get(at)?.get(name);
    return at;
  }

  #apply(call: Exclude<DiskCall, { kind: 'sync' }>): void {
    switch (call.kind) {
      case 'open': {
        const known = this.find(call.path);
        if (known === undefined && !call.create) return;
        const file = known ?? this.#create('file', call.path, 0, call.mode & ~process.umask());
        this.#positions.set(file, 0);
        if (call.append) this.#appends.add(file);
        else this.#appends.delete(file);
        if (call.truncate && (this.#sizes.get(file) ?? 0) > 0) this.#resize(file, 0);
        return;
      }
      case 'write': {
        const file = this.#get(call.path);
        const size = this.#sizes.get(file) ?? 0;
        const at = call.at ?? (this.#appends.has(file) ? size : (this.#positions.get(file) ?? 0));
        const end = at + call.bytes.length;
        this.changes.push({ kind: 'data', file, at, bytes: call.bytes });
        this.#sizes.set(file, Math.max(size, end));
        if (call.at === undefined) this.#positions.set(file, end);
        return;
      }
      case 'seek': {
        const file = this.find(call.path);
        if (file !== undefined) this.#positions.set(file, call.at);
        return;
      }
      case 'resize':
        return this.#resize(this.#get(call.path), call.size);
      case 'rename': {
        const node = this.#get(call.from);
        // Two names of one file: rename does nothing.
        if (this.find(call.to) === node) return;
        return this.#rename([this.#name(call.from), this.#name(call.to, node)]);
      }
      case 'link':
        return this.#rename([this.#name(call.to, this.#get(call.from))]);
      case 'remove':
        return this.#rename([this.#name(call.path)]);
      case 'folder':
        return void this.#create('folder', call.path, 0, call.mode & ~process.umask());
      case 'symlink':
        return void this.#create('link', call.path, 0, 0o777, Buffer.from(call.target));
      case 'mode': {
        const node = this.nodes[this.#get(call.path)];
        if (node !== undefined) node.mode = call.mode;
      }
    }
  }

  #sync(path: string, before: number): void {
    const node = this.find(path);
    if (node !== undefined) this.changes.push({ kind: 'sync', node, before });
  }

  #get(path: string): number {
    const found = this.find(path);
    if (found === undefined) throw new Error(`the recording does not know ${path}`);
    return found;
  }

  #create(kind: DiskNode['kind'], path: string, size: number, mode: number, base = Buffer.alloc(0)): number {
    const { id } = this.#make(kind, path, base, mode);
    this.#sizes.set(id, size);
    this.#rename([this.#name(path, id)]);
    return id;
  }

  #make(kind: DiskNode['kind'], path: string, base: Buffer, mode: number): DiskNode {
    const node = { id: this.nodes.length, kind, path: relative(this.#root, path), base, mode };
    this.nodes.push(node);
    this.#sizes.set(node.id, base.length);
    if (kind === 'folder') this.#names.set(node.id, new Map());
    return node;
  }

  #name(path: string, to?: number): NameChange {
    return { folder: this.#get(dirname(path)), name: basename(path), to };
  }

  #rename(names: readonly NameChange[]): void {
    this.changes.push({ kind: 'names', names });
    for (const { folder, name, to } of names) {
      if (to === undefined) this.#names.get(folder)?.delete(name);
      else this.#names.get(folder)?.set(name, to);
    }
  }

  #resize(file: number, size: number): void {
    this.changes.push({ kind: 'size', file, size });
    this.#sizes.set(file, size);
  }

  #scan(path: string, folder: number): void {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const at = join(path, entry.name);
      const { mode } = lstatSync(at);
      const add = (kind: DiskNode['kind'], base: Buffer): number => {
        const { id } = this.#make(kind, at, base, mode & 0o7777);
        this.baseNames.push({ folder, name: entry.name, to: id });
        this.#names.get(folder)?.set(entry.name, id);
        return id;
      };
      if (entry.isDirectory()) this.#scan(at, add('folder', Buffer.alloc(0)));
      else if (entry.isSymbolicLink()) add('link', Buffer.from(readlinkSync(at)));
      else if (entry.isFile() && !entry.name.endsWith('-shm')) add('file', readFileSync(at));
    }
  }
}
