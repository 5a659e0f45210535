import { describe } from 'vitest';
import { tellFirstReaders } from './support/first-reader.ts';

describe.each([0, 2_100])('with %d ms between', (pause) => {
  tellFirstReaders(pause);
});
