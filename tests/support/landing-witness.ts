import { processWitness } from '#process/process-witness.ts';

/** The real one, for tests of a room that may not know processes. */
export const witness = processWitness;
