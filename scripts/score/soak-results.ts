import { join } from 'node:path';

/** Where the soak writes how its files ended; a part of the repository, with the dates and the commits. */
export const SOAK_RESULTS = join(import.meta.dirname, '../../tests/soak-results.json');
