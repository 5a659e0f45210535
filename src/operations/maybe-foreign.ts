/** Whether an id may be another project's: the cheap look that spares this project's own ids the rest. */
export function maybeForeign(ref: string, prefix: string): boolean {
  return ref.includes('-') && !ref.startsWith(`${prefix}-`);
}
