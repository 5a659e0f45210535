import { type BigIntStats, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { askGit, type GitRepo } from './ask-git.ts';
import {
  findFile,
  isSameIndex,
  makeLockFile,
  type NextIndex,
  openNextIndex,
  readInode,
  removeLock,
  takeLock,
  toIndexLock,
  tryLock,
} from './index-lock.ts';
import { findIndexEntries, putStats, sealIndex } from './index-stats.ts';
import {
  type FileMoves,
  isUntouched,
  type Moved,
  moveFiles,
  type Snapshot,
  takeSnapshot,
} from './landing-files.ts';
import {
  type LandingJournal,
  type LandingWitness,
  makeLandingPlace,
  removeLandingPlace,
  toLandingPlace,
  writeJournal,
} from './landing-journal.ts';
import { mendCheckout } from './mend-checkout.ts';
import { resolveRef } from './read-ref.ts';
import { toGitFailure } from './run-git.ts';
import { toShownPath } from './shown-path.ts';
import { copyIndex, listSkipped, type PathChange, stageFiles, toMoves } from './stage-landing.ts';

/** Told after each step, for those who measure and for those who try what a death at that point leaves. */
export type LandingStep =
  | 'journal'
  | 'locked'
  | 'prepared'
  | 'aside'
  | 'file'
  | 'files'
  | 'index'
  | 'commit'
  | 'freed'
  | 'committed';

export interface CheckoutLanding {
  readonly ref: string;
  readonly old: string;
  readonly commit: string;
  readonly changes: readonly PathChange[];
  /** Files of the user's that are in the way, as far as git does not mind them. */
  readonly findOverlap: (place: GitRepo) => Promise<readonly string[]>;
  readonly witness: LandingWitness;
  /** No git of the user's is in the middle of its work: a stash would take the landed files for the user's. */
  readonly isQuiet: () => boolean;
  readonly patience_ms: number;
  /** From the beginning: for a checkout in which the index changes faster than a landing is made ready. */
  readonly holds_index: boolean;
  readonly on_step?: ((step: LandingStep) => void) | undefined;
}

/** A working tree that has the landed files, until the landing is settled. */
export interface LandedPlace {
  readonly repo: GitRepo;
  readonly folder: string;
  readonly journal: LandingJournal;
  readonly changes: readonly PathChange[];
  /** The index as the landing left it; undefined where another git has written it since. */
  readonly index: BigIntStats | undefined;
  readonly moved: Moved;
}

export interface Refusal {
  /** Found by a look, which may have met another git in the middle of its work. */
  readonly files: readonly string[];
  /** What git said where it refuses; it names the files. */
  readonly said: string;
}

/** One working tree in the course of one try. */
export class LandingPlace {
  readonly repo: GitRepo;
  readonly #landing: CheckoutLanding;
  readonly #folder: string;
  #journal: LandingJournal | undefined;
  #index: BigIntStats | undefined;
  #before: Snapshot = new Map();
  #moves: FileMoves | undefined;
  #moved: Moved = { placed: new Map(), backups: [], foreign: [] };
  #bytes: Buffer = Buffer.alloc(0);
  #offsets: ReadonlyMap<string, number> = new Map();
  #next: NextIndex | undefined;
  #headLock: string | undefined;
  #released: BigIntStats | undefined;
  #state: 'untouched' | 'moving' | 'released' = 'untouched';

  constructor(repo: GitRepo, landing: CheckoutLanding) {
    this.repo = repo;
    this.#landing = landing;
    this.#folder = toLandingPlace(repo);
  }

  /** The journal is on disk before the first lock. */
  open(gitPid: number | undefined): void {
    const { witness, ref, old, commit } = this.#landing;
    const { git_dir, worktree } = this.repo;
    makeLandingPlace(this.#folder);
    const lock = makeLockFile(join(this.#folder, 'lock'));
    this.#next = openNextIndex(join(this.#folder, 'next'), findFile(join(git_dir, 'index')));
    this.#journal = {
      v: 1,
      holder: witness.self(),
      git: gitPid === undefined ? null : (witness.identify(gitPid) ?? null),
      ref,
      old,
      new: commit,
      worktree,
      git_dir,
      index_locks: [lock, this.#next.inode],
      ref_locks: [],
    };
    writeJournal(this.#folder, this.#journal, { sync: true });
    this.#landing.on_step?.('journal');
  }

  #note(more: Partial<Pick<LandingJournal, 'index_locks' | 'ref_locks'>>): void {
    if (this.#journal === undefined) return;
    this.#journal = { ...this.#journal, ...more };
    writeJournal(this.#folder, this.#journal, { sync: false });
  }

  async lock(): Promise<boolean> {
    const lock = toIndexLock(this.repo.git_dir);
    const inode = await takeLock(lock, join(this.#folder, 'lock'), this.#landing.patience_ms);
    if (inode === undefined) return false;
    const known = this.#journal?.index_locks ?? [];
    if (!known.includes(inode)) this.#note({ index_locks: [...known, inode] });
    return true;
  }

  /** The new index and the new files, beside the working tree. Undefined, or why git refuses. */
  async makeReady(): Promise<Refusal | undefined> {
    const { changes, old, commit } = this.#landing;
    const index = join(this.#folder, 'index');
    const staged = join(this.#folder, 'files');
    this.#index = findFile(join(this.repo.git_dir, 'index'));
    // Before git looks at the files: what it says of them is true as long as they are these.
    this.#before = takeSnapshot(
      this.repo.worktree,
      changes.map(({ path }) => path),
    );
    const files = await this.#landing.findOverlap(this.repo);
    if (files.length > 0) return { files, said: '' };
    copyIndex(this.repo, index);
    const more_env = { GIT_INDEX_FILE: index };
    // Files that were only touched are not changed; git takes them for that until it has looked.
    await askGit(this.repo, ['update-index', '-q', '--refresh'], { more_env });
    const check = await askGit(this.repo, ['read-tree', '-m', '-u', '-n', old, commit], { more_env });
    if (check.exit !== 0) return { files: [], said: check.stderr };
    const result = await stageFiles(this.repo, { index, folder: staged, from: old, to: commit });
    if (result.exit !== 0) throw toGitFailure(['read-tree'], result);
    this.#moves = toMoves(this.repo, { staged, folder: this.#folder }, changes);
    // A sparse checkout has no such file; where there is one, it is the user's.
    const own = listSkipped(staged, changes).filter((path) => this.#before.get(path) !== undefined);
    if (own.length > 0) return { files: [], said: own.map(toShownPath).join('\n') };
    this.#bytes = readFileSync(index);
    this.#offsets = findIndexEntries(this.#bytes, new Set(this.#moves.written), commit.length / 2);
    return undefined;
  }

  async isWhereItWas(): Promise<boolean> {
    if (!isSameIndex(this.#index, findFile(join(this.repo.git_dir, 'index')))) return false;
    return this.isOnBranch();
  }

  async isOnBranch(): Promise<boolean> {
    return (await resolveRef(this.repo, 'HEAD')) === this.#landing.ref;
  }

  isUntouched(): boolean {
    return this.#moves !== undefined && isUntouched(this.#moves, this.#before);
  }

  /** git locks a HEAD that names the branch in the working tree that it runs in; others are locked by hand. */
  lockHead({ byGit }: { readonly byGit: boolean }): boolean {
    const head = join(this.repo.git_dir, 'HEAD.lock');
    if (!byGit) {
      const inode = tryLock(head, join(this.#folder, 'lock'));
      if (inode === undefined) return false;
      this.#headLock = inode;
    }
    const locks = [join(this.repo.common_dir, `${this.#landing.ref}.lock`), head];
    this.#note({ ref_locks: locks.flatMap((lock) => readInode(lock) ?? []) });
    return true;
  }

  /** Gives the paths at which the user has saved something in this moment; nothing more was moved then. */
  move(): readonly string[] {
    if (this.#moves === undefined) return [];
    this.#state = 'moving';
    const on_moved = this.#landing.on_step ?? (() => undefined);
    this.#moved = moveFiles(this.#moves, this.#before, { at_foreign: 'stop', on_moved });
    return this.#moved.foreign;
  }

  putIndex(): void {
    // The times of a file that the user has saved since would say that it is as committed.
    for (const [path, at] of this.#offsets) {
      const stats = this.#moved.placed.get(path);
      if (stats !== undefined) putStats(this.#bytes, at, stats);
    }
    sealIndex(this.#bytes, this.#landing.commit.length / 2);
    this.#next?.write(this.#bytes);
    this.#next?.intoLock(toIndexLock(this.repo.git_dir));
  }

  release(): void {
    const index = join(this.repo.git_dir, 'index');
    renameSync(toIndexLock(this.repo.git_dir), index);
    this.#state = 'released';
    const now = findFile(index);
    // One that another git has written at once is not what the landing left.
    this.#released = now?.ino.toString() === this.#next?.inode ? now : undefined;
    this.#freeHead();
  }

  #freeHead(): void {
    if (this.#headLock !== undefined) removeLock(join(this.repo.git_dir, 'HEAD.lock'), [this.#headLock]);
    this.#headLock = undefined;
  }

  /** After the first file was moved: back to where HEAD is, as after a death. */
  async undo(): Promise<void> {
    const journal = this.#journal;
    if (this.#state === 'untouched' || journal === undefined) return;
    this.#freeHead();
    const lock = toIndexLock(this.repo.git_dir);
    if (!journal.index_locks.includes(readInode(lock) ?? '')) await this.lock();
    await mendCheckout(this.repo, {
      journal,
      folder: this.#folder,
      what: 'all',
      note: (inode) => this.#note({ index_locks: [...journal.index_locks, inode] }),
    });
    this.#state = 'untouched';
  }

  toLanded(): LandedPlace {
    if (this.#journal === undefined) throw new TypeError('a landing without a journal');
    this.#state = 'released';
    const { changes } = this.#landing;
    const index = this.#released;
    const { repo } = this;
    return { repo, folder: this.#folder, journal: this.#journal, changes, index, moved: this.#moved };
  }

  /** Where nothing was changed nothing is left; what landed keeps its journal until it is settled. */
  close(): void {
    this.#next?.[Symbol.dispose]();
    if (this.#state === 'released' || this.#journal === undefined) return;
    this.#freeHead();
    if (this.#state === 'moving') return; // To be healed.
    removeLock(toIndexLock(this.repo.git_dir), this.#journal.index_locks);
    rmSync(join(this.#folder, 'lock'), { force: true });
    removeLandingPlace(this.#folder);
    this.#landing.on_step?.('freed');
  }
}
