/** How this Forge is started again by git: absolute paths, so that neither a PATH nor a registry decides what runs. */
export interface ForgeProgram {
  readonly node: string;
  /** `bin/forge.cjs` */
  readonly script: string;
}

/** One word for a POSIX shell, whatever is in it. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
