import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BRANCH_FOLDER } from '#domain/attempt-names.ts';
import { findRepository } from '#git/find-repository.ts';
import type { AttemptLister } from './held-lines.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

/** What decides how work is judged, besides the tasks. */
const FILES = ['config.json', 'workflow.json'] as const;
export type GateFile = (typeof FILES)[number];

type Places = Pick<ProjectPaths, 'forge_dir' | 'store_dir'>;

/**
 * Config and workflow of a checkout count, unless they are those of an attempt that nobody has merged: then the copies
 * in the git directory do, which are what people had last. Most checkouts are the same as the copies, and cost a look
 * at two small files; git is asked where they differ.
 */
export class GateFiles {
  readonly #project: { readonly store: AttemptLister; readonly paths: ProjectPaths };
  readonly #machine: Pick<Machine, 'env'>;
  /** By HEAD, name and text: whether it is an agent's. */
  readonly #known = new Map<string, boolean>();

  constructor(
    project: { readonly store: AttemptLister; readonly paths: ProjectPaths },
    machine: Pick<Machine, 'env'>,
  ) {
    this.#project = project;
    this.#machine = machine;
  }

  /** Asks git about what is not known yet. */
  async look(): Promise<void> {
    const open = FILES.flatMap((name) => this.#findUnknown(name) ?? []);
    if (open.length === 0) return;
    // Nearly always there is nothing to ask, and then nothing of git is loaded.
    const [{ findHeldFiles }, { toGitRepo }] = await Promise.all([
      import('./held-lines.ts'),
      import('./machine.ts'),
    ]);
    const repo = toGitRepo(this.#project.paths.root, this.#machine);
    const held = await findHeldFiles(
      this.#project.store,
      repo,
      open.map(({ name }) => `.forge/${name}`),
    );
    for (const { name, key } of open) this.#known.set(key, held.has(`.forge/${name}`));
  }

  isHeld(name: GateFile): boolean {
    const unknown = this.#findUnknown(name);
    // Until git was asked: on a branch of a person's it is most likely theirs.
    if (unknown !== undefined)
      return !unknown.head.startsWith('ref:') || unknown.head.includes(`refs/heads/${BRANCH_FOLDER}`);
    return this.#known.get(this.#toKey(name)) === true;
  }

  /** Where the file is read from. */
  placesOf(name: GateFile): Places {
    const { forge_dir, store_dir } = this.#project.paths;
    // For a process that stays: what git says counts from the next look on.
    if (this.#findUnknown(name) !== undefined) this.look().catch(() => undefined);
    return { forge_dir: this.isHeld(name) ? store_dir : forge_dir, store_dir };
  }

  /** Undefined where the checkout has none, or the same as the copy, or it is known. */
  #findUnknown(name: GateFile): { name: GateFile; key: string; head: string } | undefined {
    const { forge_dir, store_dir } = this.#project.paths;
    const own = readOr(join(forge_dir, name));
    if (own === '' || own === readOr(join(store_dir, name))) return undefined;
    const key = this.#toKey(name);
    return this.#known.has(key) ? undefined : { name, key, head: this.#readHead() };
  }

  #toKey(name: GateFile): string {
    return [this.#readHead(), name, readOr(join(this.#project.paths.forge_dir, name))].join('\n');
  }

  #readHead(): string {
    const { root } = this.#project.paths;
    return readOr(join(findRepository(root)?.git_dir ?? join(root, '.git'), 'HEAD'));
  }
}

/** What cannot be read is for those to say who need it. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
