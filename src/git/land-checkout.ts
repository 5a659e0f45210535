import { type BigIntStats, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
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
  lookInside,
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
import { openPreparedRef, type PreparedRef } from './prepared-ref.ts';
import { readRef, readSymbolicRef } from './read-ref.ts';
import { toGitFailure } from './run-git.ts';
import {
  copyIndex,
  isElsewhere,
  listSkipped,
  type PathChange,
  stageFiles,
  toMoves,
} from './stage-landing.ts';

/** Told after each step, for those who measure and for those who try what a death at that point leaves. */
export type LandingStep =
  | 'journal'
  | 'locked'
  | 'prepared'
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
  /** The index as the landing left it. */
  readonly index: BigIntStats | undefined;
}

export type CheckoutOutcome =
  | { readonly kind: 'landed'; readonly places: readonly LandedPlace[] }
  /** Something changed between a look and a step; nothing was changed. */
  | { readonly kind: 'again' }
  | { readonly kind: 'busy'; readonly lock: string }
  /** Something of the user's is in the way in this working tree; git names more than these. */
  | { readonly kind: 'refused'; readonly place: GitRepo; readonly refusal: Refusal };

export interface Refusal {
  /** Found by a look, which may have met another git in the middle of its work. */
  readonly files: readonly string[];
  /** What git said where it refuses; it names the files. */
  readonly said: string;
}

/**
 * Moves a branch and the working trees that have it, all at one moment, so that no other git can ever see the new
 * index with the old HEAD or the old index with the new HEAD. Everything that takes long is done before the index is
 * locked: a user's command that meets the lock fails. For a process that holds the landing lock.
 */
export async function landCheckouts(
  places: readonly GitRepo[],
  landing: CheckoutLanding,
): Promise<CheckoutOutcome> {
  const [first] = places;
  if (first === undefined) return { kind: 'again' };
  const works = places.map((repo) => new Place(repo, landing));
  await using ref = await openPreparedRef(first, 'forge: merge');
  try {
    for (const work of works) work.open(ref.pid);
    if (landing.holds_index) {
      const busy = await lockAll(works, landing);
      if (busy !== undefined) return busy;
    }
    for (const work of works) {
      const refused = await work.makeReady();
      if (refused !== undefined) return { kind: 'refused', place: work.repo, refusal: refused };
    }
    if (!landing.holds_index) {
      const busy = await lockAll(works, landing);
      if (busy !== undefined) return busy;
    }
    return await landLocked(works, landing, ref);
  } finally {
    for (const work of works) work.close();
  }
}

/**
 * Moves a branch that no working tree has. A `git switch` to it has read it long before its HEAD says so, and holds its
 * index lock nearly all of that time: the others are locked for the moment, so that none is on its way.
 */
export async function landBranch(
  repo: GitRepo,
  others: readonly GitRepo[],
  landing: Omit<CheckoutLanding, 'changes' | 'findOverlap' | 'holds_index'>,
): Promise<CheckoutOutcome> {
  const works = others.map(
    (other) => new Place(other, { ...landing, changes: [], findOverlap: async () => [], holds_index: true }),
  );
  await using ref = await openPreparedRef(repo, 'forge: merge');
  try {
    for (const work of works) work.open(ref.pid);
    const busy = await lockAll(works, landing);
    if (busy !== undefined) return busy;
    for (const work of works) if (await work.isOnBranch()) return { kind: 'again' };
    const { ref: name, old, commit } = landing;
    if (!(await ref.hold({ ref: name, from: old, to: commit }))) {
      if ((await readRef(repo, name)) !== old) return { kind: 'again' };
      return { kind: 'busy', lock: join(repo.common_dir, `${name}.lock`) };
    }
    ref.commit();
    return (await ref.committed()) ? { kind: 'landed', places: [] } : { kind: 'again' };
  } finally {
    for (const work of works) work.close();
  }
}

async function lockAll(
  works: readonly Place[],
  landing: Pick<CheckoutLanding, 'on_step'>,
): Promise<CheckoutOutcome | undefined> {
  for (const work of works)
    if (!(await work.lock())) return { kind: 'busy', lock: toIndexLock(work.repo.git_dir) };
  landing.on_step?.('locked');
  return undefined;
}

async function landLocked(
  works: readonly Place[],
  landing: CheckoutLanding,
  ref: PreparedRef,
): Promise<CheckoutOutcome> {
  for (const work of works) if (!(await work.isWhereItWas())) return { kind: 'again' };
  const { ref: name, old, commit } = landing;
  if (!(await ref.hold({ ref: name, from: old, to: commit }))) return whyNotPrepared(works, landing);
  for (const [at, work] of works.entries()) if (!work.lockHead({ byGit: at === 0 })) return { kind: 'again' };
  landing.on_step?.('prepared');
  // A switch writes the index first and HEAD after: now that HEAD is locked, it counts.
  for (const work of works) if (!(await work.isWhereItWas()) || !work.isUntouched()) return { kind: 'again' };
  const failure = moveAll(works, landing, ref);
  if (failure === undefined && (await ref.committed())) {
    landing.on_step?.('committed');
    return { kind: 'landed', places: works.map((work) => work.toLanded()) };
  }
  await ref[Symbol.asyncDispose]();
  for (const work of works) await work.undo();
  const [first] = works;
  if (first !== undefined && (await readRef(first.repo, name)) === commit)
    return { kind: 'landed', places: works.map((work) => work.toLanded()) };
  if (failure !== undefined) throw toMoveError(failure, works);
  return { kind: 'again' };
}

/** All at once: nothing is awaited from the first file to the last rename. Gives what went wrong. */
function moveAll(works: readonly Place[], { on_step }: CheckoutLanding, ref: PreparedRef): Error | undefined {
  try {
    for (const work of works) work.move();
    on_step?.('files');
    for (const work of works) work.putIndex();
    on_step?.('index');
    // Both at once: the branch moves even if this process dies between them, and the lock is there until the end.
    ref.commit();
    on_step?.('commit');
    for (const work of works) work.release();
    on_step?.('freed');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function toMoveError(cause: Error, works: readonly Place[]): ForgeError {
  const worktree = works.map(({ repo }) => repo.worktree).join(' and ');
  return new ForgeError('io_failed', `A merge could not be put into ${worktree}: ${cause.message}`, {
    hint: 'See that the files there can be written, then merge again; nothing was changed',
    details: { worktree },
    cause,
  });
}

async function whyNotPrepared(works: readonly Place[], landing: CheckoutLanding): Promise<CheckoutOutcome> {
  const [first] = works;
  if (first === undefined || (await readRef(first.repo, landing.ref)) !== landing.old)
    return { kind: 'again' };
  return { kind: 'busy', lock: join(first.repo.common_dir, `${landing.ref}.lock`) };
}

/** One working tree in the course of one try. */
class Place {
  readonly repo: GitRepo;
  readonly #landing: CheckoutLanding;
  readonly #folder: string;
  #journal: LandingJournal | undefined;
  #index: BigIntStats | undefined;
  #before: Snapshot = new Map();
  #moves: FileMoves | undefined;
  #bytes: Buffer = Buffer.alloc(0);
  #offsets: ReadonlyMap<string, number> = new Map();
  #next: NextIndex | undefined;
  #headLock: string | undefined;
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
      copies: isElsewhere(this.#folder, worktree),
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
    this.#moves = toMoves(this.repo, staged, changes);
    // A sparse checkout has no such file; where there is one, it is the user's.
    const own = listSkipped(staged, changes).filter((path) => this.#before.get(path) !== undefined);
    if (own.length > 0) return { files: [], said: own.join('\n') };
    this.#bytes = readFileSync(index);
    this.#offsets = findIndexEntries(this.#bytes, new Set(this.#moves.written), commit.length / 2);
    return undefined;
  }

  async isWhereItWas(): Promise<boolean> {
    if (!isSameIndex(this.#index, findFile(join(this.repo.git_dir, 'index')))) return false;
    return this.isOnBranch();
  }

  async isOnBranch(): Promise<boolean> {
    return (await readSymbolicRef(this.repo, 'HEAD')) === this.#landing.ref;
  }

  isUntouched(): boolean {
    return this.#moves !== undefined && isUntouched(this.#moves, this.#before);
  }

  /** git locks the HEAD of the working tree that it runs in; those of others are locked in the same way by hand. */
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

  move(): void {
    if (this.#moves === undefined) return;
    this.#state = 'moving';
    moveFiles(this.#moves, () => this.#landing.on_step?.('file'));
  }

  putIndex(): void {
    for (const [path, at] of this.#offsets) {
      const stats = lookInside(this.repo.worktree, path);
      if (stats !== undefined) putStats(this.#bytes, at, stats);
    }
    sealIndex(this.#bytes, this.#landing.commit.length / 2);
    this.#next?.write(this.#bytes);
    this.#next?.intoLock(toIndexLock(this.repo.git_dir));
  }

  release(): void {
    renameSync(toIndexLock(this.repo.git_dir), join(this.repo.git_dir, 'index'));
    this.#state = 'released';
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
    const index = findFile(join(this.repo.git_dir, 'index'));
    this.#state = 'released';
    const { changes } = this.#landing;
    return { repo: this.repo, folder: this.#folder, journal: this.#journal, changes, index };
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
