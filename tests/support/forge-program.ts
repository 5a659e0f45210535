import { resolve } from 'node:path';

/** The program as npm links it into a PATH. */
export const FORGE = resolve(import.meta.dirname, '../../bin/forge.cjs');
