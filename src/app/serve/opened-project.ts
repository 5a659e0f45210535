import { statSync } from 'node:fs';
import type { OpenProject } from '#operations/operation.ts';

/** An open store with those who use it. */
export class OpenedProject {
  readonly project: OpenProject & AsyncDisposable;
  readonly #inode: number;
  #users = 0;
  #isRetired = false;
  #isClosed = false;

  constructor(project: OpenProject & AsyncDisposable) {
    this.project = project;
    this.#inode = readInode(project.paths.database);
  }

  /** Another database stands where this one did. */
  get isReplaced(): boolean {
    return readInode(this.project.paths.database) !== this.#inode;
  }

  /** It stays open as long as the work goes on. */
  async use<T>(work: (project: OpenProject) => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await work(this.project);
    } finally {
      this.#users -= 1;
      if (this.#isRetired) await this.#closeWhenUnused();
    }
  }

  /** Closed by the last who uses it. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    await this.#closeWhenUnused();
  }

  async #closeWhenUnused(): Promise<void> {
    if (this.#isClosed || this.#users > 0) return;
    this.#isClosed = true;
    await this.project[Symbol.asyncDispose]();
  }
}

function readInode(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
}
