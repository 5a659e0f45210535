import type { OpenProject } from '#operations/operation.ts';
import { readGeneration } from '#store/store-location.ts';

/** An open store with those who use it. */
export class OpenedProject {
  readonly project: OpenProject & AsyncDisposable;
  readonly #generation: number;
  #users = 0;
  #isRetired = false;
  #isClosed = false;

  constructor(project: OpenProject & AsyncDisposable) {
    this.project = project;
    this.#generation = readGeneration(project.paths.store);
  }

  /** Another database stands where this one did. */
  get isReplaced(): boolean {
    return readGeneration(this.project.paths.store) !== this.#generation;
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
