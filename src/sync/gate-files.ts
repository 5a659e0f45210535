import { join } from 'node:path';
import { mayBeAttempt, readHeadText } from './head-place.ts';
import type { AttemptLister } from './held-lines.ts';
import type { Machine } from './machine.ts';
import { replaceFile } from './place-file.ts';
import type { ProjectPaths } from './project-paths.ts';
import { readRegularFile } from './read-regular-file.ts';

/** What decides how work is judged, besides the tasks. */
const FILES = ['config.json', 'workflow.json'] as const;
export type GateFile = (typeof FILES)[number];

type Places = Pick<ProjectPaths, 'forge_dir' | 'store_dir'>;

/**
 * Config and workflow of a checkout count, unless they are those of an unmerged attempt: then the copies
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
    const [{ findHeldFiles, readAtTarget }, { toGitRepo }] = await Promise.all([
      import('./held-files.ts'),
      import('./machine.ts'),
    ]);
    const { store, paths } = this.#project;
    const repo = toGitRepo(paths.root, this.#machine);
    const texts = new Map(open.map(({ name, text }) => [`.forge/${name}`, text]));
    const held = await findHeldFiles(store, repo, texts);
    for (const { name, key } of open) {
      const isHeld = held.has(`.forge/${name}`);
      // A clone that began on the branch of an attempt has none of people yet.
      if (isHeld && readOr(join(paths.store_dir, name)) === '')
        placeCopy(paths, name, await readAtTarget(store, repo, `.forge/${name}`));
      this.#known.set(key, isHeld);
    }
  }

  isHeld(name: GateFile): boolean {
    const unknown = this.#findUnknown(name);
    // Until git was asked: on a branch of a person's it is most likely theirs.
    if (unknown !== undefined) return mayBeAttempt(unknown.head);
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
  #findUnknown(name: GateFile): { name: GateFile; key: string; head: string; text: string } | undefined {
    const { forge_dir, store_dir } = this.#project.paths;
    const own = readOr(join(forge_dir, name));
    if (own === '' || own === readOr(join(store_dir, name))) return undefined;
    const key = this.#toKey(name);
    return this.#known.has(key) ? undefined : { name, key, head: this.#readHead(), text: own };
  }

  #toKey(name: GateFile): string {
    return [this.#readHead(), name, readOr(join(this.#project.paths.forge_dir, name))].join('\n');
  }

  #readHead(): string {
    return readHeadText(this.#project.paths.root);
  }
}

/** A store that cannot be written does without. */
function placeCopy({ store_dir }: Places, name: GateFile, bytes: Buffer | undefined): void {
  try {
    if (bytes !== undefined) replaceFile(join(store_dir, name), bytes);
  } catch {
    // the defaults count there, and nothing of the agent's
  }
}

/** Where config and workflow are read from, and written to, while some of them may be an agent's. */
export interface GatePaths {
  readonly config: Pick<ProjectPaths, 'config' | 'shared_config'>;
  /** The same as folders, for what the config says of work. */
  readonly settings: Places;
  readonly workflow: Places;
}

/** For commands that read several of them, or write. Asks git where the checkout differs from the copies. */
export async function findGatePaths(
  project: { readonly store: AttemptLister; readonly paths: ProjectPaths },
  machine: Pick<Machine, 'env'>,
): Promise<GatePaths> {
  const gates = new GateFiles(project, machine);
  await gates.look();
  const { config, shared_config } = project.paths;
  return {
    config: { config: gates.isHeld('config.json') ? shared_config : config, shared_config },
    settings: gates.placesOf('config.json'),
    workflow: gates.placesOf('workflow.json'),
  };
}

/** What cannot be read is for those to say who need it. */
function readOr(path: string): string {
  try {
    return readRegularFile(path, { links: 'refuse' })?.toString('utf8') ?? '';
  } catch {
    return '';
  }
}
