import { describeLostValues } from '../support/lost-values.ts';

// Every eleventh of the tables, so that each thing done meets another way; the soak has all of them.
describeLostValues((rows) => rows.filter((_, at) => at % 11 === 0));
