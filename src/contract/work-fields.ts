import * as z from 'zod';
import { OPERATIONS } from './operations.ts';
import { WorkRef } from './run-operations.ts';

/** The field, by operation, that names the run or the attempt it is about. */
export const WORK_FIELDS: ReadonlyMap<string, string> = new Map(
  OPERATIONS.filter(({ needs }) => needs === 'project').flatMap(({ name, input }) => {
    const field = Object.entries<z.core.$ZodType>(input.shape).find(([, schema]) => isWorkRef(schema));
    return field === undefined ? [] : [[name, field[0]] as const];
  }),
);

function isWorkRef(schema: z.core.$ZodType): boolean {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  return inner._zod.def === WorkRef._zod.def;
}
