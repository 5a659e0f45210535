import { tellFirstReaders } from './support/first-reader.ts';

tellFirstReaders(0);
