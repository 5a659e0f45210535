/**
 * What a program inside of walls can reach. The whole machine can be read there, but for what is named here; nothing
 * can be changed, but for what is named here and for temporary folders of its own. Paths are absolute; one that does not
 * exist is left out.
 */
export interface Walls {
  /** The folder that it works in. */
  readonly work: { readonly path: string; readonly read_only: boolean };
  /** Files and folders that it may change besides. */
  readonly writable: readonly string[];
  /** Folders in whose place it has another one that it may change. */
  readonly replaced: readonly { readonly path: string; readonly by: string }[];
  /** Empty folders of its own, within `writable`. */
  readonly own: readonly string[];
  /** What stays as it is within those. */
  readonly fixed: readonly string[];
  /** Empty inside: keys and logins that the program has no use for. */
  readonly hidden: readonly string[];
  /** Empty inside, and stronger than `writable`: what belongs to Forge itself. */
  readonly sealed: readonly string[];
  /** Can be read also where it lies in a sealed folder. */
  readonly let_in: readonly string[];
  /** Can be read, and not changed, also where it lies in a temporary, writable or replaced folder. */
  readonly readable: readonly string[];
}
