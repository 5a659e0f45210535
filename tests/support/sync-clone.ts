import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemActor } from '#domain/actor.ts';
import { findUndecided } from '#domain/merge-changes.ts';
import { hasLife } from '#domain/own-values.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { isToldByCommits, TakenBackSearch, type PutBackLine } from '#domain/taken-back.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { openStore } from '#store/open-store.ts';
import { locationOf } from '#store/store-location.ts';
import type { TaskStore, Writer } from '#store/store.ts';
import { toOwnKey, type OwnValue } from '#domain/judge-losses.ts';
import type { Replication } from '#store/replication.ts';
import type { StoreCare } from '#store/store-care.ts';
import { foldAsking } from '#sync/fold-files.ts';
import { toTextFold } from '#sync/fold-request.ts';
import { digestText, splitText } from '#sync/read-file-lines.ts';
import type { TaskFiles } from '#sync/task-files.ts';
import { idOfLine } from '#sync/trace-lines.ts';
import {
  EMPTY_TREE,
  isSameTree,
  listAncestors,
  logChanges,
  mergeAsText,
  toMergedLines,
  type Commit,
  type MergeFile,
  type Tree,
} from './sync-git.ts';
import type { SyncWorld } from './sync-world.ts';

/** In these worlds no agent works. */
const source = {
  repo: undefined,
  findHeld: async (): Promise<undefined> => undefined,
  readCommitted: async () => [],
};

/** What all clones push to. */
export interface Remote {
  readonly branches: Map<string, Commit>;
}

/** How a clone is set up; what real ones are, too: a hook that does not run, a driver that nobody registered. */
export interface CloneSetup {
  readonly name: string;
  readonly folder: string;
  readonly driver: boolean;
  readonly hooks: boolean;
  readonly canonical: boolean;
  readonly now: number;
  /** False: git knows nothing of the task file. */
  readonly isTracked?: boolean;
}

/** One clone: a real store and real files, git in memory around them. */
export class SyncClone {
  readonly name: string;
  readonly files: TaskFiles;
  readonly world: SyncWorld;
  readonly remote: Remote;
  readonly branches = new Map<string, Commit>();
  readonly tracking = new Map<string, Commit>();
  readonly stashes: { readonly base: Commit; readonly tree: Tree }[] = [];
  readonly #common: string;
  readonly #isTracked: boolean;
  readonly #numbers: { next: number };
  branch = 'main';
  /** The other side, while a merge waits for its commit. */
  mergeHead: Commit | undefined;
  /** A person wrote the task file last, so that git's index has other notes of it. */
  isByHand = false;
  /** Git left conflict markers that no commit has settled yet. */
  hasConflict = false;
  driver: boolean;
  hooks: boolean;
  canonical: boolean;
  now: number;
  /** Told of every merge that the driver makes. */
  onMerge: (name: keyof Tree, sides: readonly string[], merged: string) => void = () => undefined;
  /** Told of what a stash brings back. */
  onPop: (tree: Tree) => void = () => undefined;
  #store: (TaskStore & Replication & StoreCare) | undefined;
  /** Where HEAD was when a fold found the file changed. */
  #looked: { readonly head: Commit; readonly tasks: string | undefined } | undefined;

  /** All that was checked out when the file was looked at. */
  readonly #lookedAt = new Set<Commit>();

  constructor(
    setup: CloneSetup,
    around: { world: SyncWorld; remote: Remote; root: Commit; numbers: { next: number } },
  ) {
    this.name = setup.name;
    this.driver = setup.driver;
    this.hooks = setup.hooks;
    this.canonical = setup.canonical;
    this.now = setup.now;
    this.#isTracked = setup.isTracked ?? true;
    this.world = around.world;
    this.remote = around.remote;
    this.#numbers = around.numbers;
    this.#common = join(setup.folder, setup.name, '.git', 'forge');
    const tracked = join(setup.folder, setup.name, '.forge');
    const [tasks, history] = [join(tracked, 'tasks.jsonl'), join(tracked, 'history.jsonl')];
    this.files = { tasks, history, copies: this.#common };
    mkdirSync(tracked, { recursive: true });
    this.branches.set('main', around.root);
  }

  get store(): TaskStore & Replication & StoreCare {
    if (this.#store === undefined) throw new Error('the store is closed');
    return this.#store;
  }

  get replica(): string {
    return join(this.#common, 'tasks.jsonl');
  }

  get database(): string {
    return join(this.#common, 'forge.db');
  }

  async open(): Promise<void> {
    const clock = { now: () => this.now };
    this.#store = await openStore(locationOf(this.database), { clock });
  }

  async close(): Promise<void> {
    await this.#store?.[Symbol.asyncDispose]();
    this.#store = undefined;
  }

  async removeDatabase(): Promise<void> {
    await this.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${this.database}${suffix}`, { force: true });
    this.world.beforeReplay(this.replica);
    await this.open();
  }

  /** The database and the local replica: all that the clone knows beside its files and commits. */
  async removeEverything(): Promise<void> {
    await this.close();
    rmSync(this.#common, { recursive: true, force: true });
    await this.open();
  }

  /** A person's or an agent's write. */
  by(name = this.name): Writer {
    return { actor: { kind: 'agent', name, named: true }, now: this.now };
  }

  /** The beginning of every command. Files have the machine's time, tasks that of the sequence. */
  async fold(): Promise<void> {
    await this.world.fold(this);
    this.#noteLook();
  }

  #noteLook(): void {
    const { tasks } = this.readWorkingTree();
    if (this.#looked?.tasks !== tasks) this.#looked = { head: this.head, tasks };
    for (const commit of listAncestors(this.head)) this.#lookedAt.add(commit);
  }

  async export(): Promise<void> {
    const findSeen = (values: readonly OwnValue[]) => Promise.resolve(this.findSeen(values));
    const by = { actor: systemActor('hook'), now: this.now, clock: () => Date.now(), findSeen };
    await this.world.exportFiles(this.store, this.files, { by, source, canonical: this.canonical });
    this.#noteLook();
  }

  /** Joins the tasks of a commit in, as the hooks do. */
  async foldCommit(rev: string, commit: Commit, merged?: Commit): Promise<void> {
    const { tasks } = commit.tree;
    if (tasks === undefined) return;
    const isUndecided = merged === undefined ? () => true : findUndecided(toMergedLines(merged), idOfLine);
    const lines = [...splitText(tasks)].filter(({ text }) => isUndecided(text));
    const request = toTextFold(`git:${rev}`, lines, {
      digest: digestText(tasks),
      now: this.now,
    });
    const findSeen = (values: readonly OwnValue[]) => Promise.resolve(this.findSeen(values, commit));
    await foldAsking(this.store, request, { actor: systemActor('hook'), now: this.now, findSeen });
  }

  /** Which of these values a commit, or one before it, holds; as seen-in-history.ts asks git. */
  findSeen(values: readonly OwnValue[], commit: Commit = this.head): ReadonlySet<string> {
    const texts = this.#isTracked || commit !== this.head ? [...listAncestors(commit)] : [];
    const records = texts.flatMap(({ tree }) => readRecords(tree.tasks ?? ''));
    const isSeen = ({ id, mark }: OwnValue): boolean =>
      records.some((record) => record.id === id && hasLife(record, mark));
    return new Set(values.filter(isSeen).map(toOwnKey));
  }

  get head(): Commit {
    const commit = this.branches.get(this.branch);
    if (commit === undefined) throw new Error(`${this.name} has no branch ${this.branch}`);
    return commit;
  }

  moveHead(commit: Commit): void {
    this.hasConflict = false;
    this.branches.set(this.branch, commit);
  }

  makeCommit(parents: readonly Commit[], tree: Tree): Commit {
    this.#numbers.next += 1;
    return { number: this.#numbers.next, parents, tree };
  }

  readWorkingTree(): Tree {
    const read = (path: string): string | undefined =>
      existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    return { tasks: read(this.files.tasks), history: read(this.files.history) };
  }

  writeWorkingTree(tree: Tree): void {
    this.isByHand = false;
    const now = this.readWorkingTree();
    for (const name of ['tasks', 'history'] as const) {
      const text = tree[name];
      // Git writes only what differs.
      if (text === now[name]) continue;
      rmSync(this.files[name], { force: true });
      if (text === undefined) continue;
      mkdirSync(dirname(this.files[name]), { recursive: true });
      writeFileSync(this.files[name], text);
    }
  }

  get isDirty(): boolean {
    return this.mergeHead !== undefined || !isSameTree(this.readWorkingTree(), this.head.tree);
  }

  /** What git tells of lines that show again what they once showed; see put-back-by-hand.ts. */
  findByHand(lines: readonly PutBackLine[]): readonly PutBackLine[] {
    const written = lines.filter(({ guessed }) => guessed !== 'back');
    if (!this.#isTracked) return written;
    const isMerging = this.hasConflict || this.mergeHead !== undefined;
    const isWritten = !isMerging && (this.isByHand || this.isDirty);
    const asked = isWritten ? lines.filter(isToldByCommits) : lines;
    const heads = [this.head, ...(this.mergeHead === undefined ? [] : [this.mergeHead])];
    const found = heads.flatMap((head) => this.findTakenBack(asked, head, this.#looked?.head));
    if (!isWritten) return found;
    const texts = new Set(found.map(({ text }) => text));
    return [...written.filter(({ text }) => !texts.has(text)), ...found];
  }

  /** The lines that a commit of `head` changed back; see find-taken-back.ts. */
  findTakenBack(lines: readonly PutBackLine[], head: Commit, known?: Commit): readonly PutBackLine[] {
    const search = new TakenBackSearch(lines);
    for (const { commit, changes } of logChanges(head, known))
      search.take(changes, known !== undefined && this.#lookedAt.has(commit));
    return search.found;
  }

  /** As this clone merges: by the driver where it is registered. */
  get mergeFile(): MergeFile {
    if (!this.driver) return mergeAsText;
    return (name, base, ours, theirs) => {
      const { mergeTasks, mergeHistory } = this.world;
      const text = name === 'tasks' ? mergeTasks(base, ours, theirs, this.now) : mergeHistory(ours, theirs);
      this.onMerge(name, [ours, theirs], text);
      return { text, conflict: false };
    };
  }
}

export function makeRoot(): Commit {
  return { number: 0, parents: [], tree: EMPTY_TREE };
}

function readRecords(text: string): TaskRecord[] {
  return [...splitText(text)].flatMap(({ text: line }) => {
    try {
      return [decodeRecord(parseJson(line, 'The line') as JsonObject)];
    } catch (error) {
      if (!isForgeError(error)) throw error;
      return [];
    }
  });
}
