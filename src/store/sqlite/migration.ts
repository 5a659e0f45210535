import type { Raises } from '#domain/schema-floors.ts';

export interface Migration {
  readonly number: number;
  readonly name: string;
  /** Which floor of the format it raises. */
  readonly raises: Raises;
  readonly sql: string;
}
