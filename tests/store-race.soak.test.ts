import { it } from 'vitest';
import { expectAllServed } from './support/store-races.ts';

it('100 processes claim and create once each: nobody is told that it is busy', () => expectAllServed(100));
