import { describeLostValues } from '../support/lost-values.ts';

describeLostValues((rows) => rows);
