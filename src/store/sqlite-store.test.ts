import { tempStore } from '../../tests/support/temp-store.ts';
import { describeStore } from './store-behaviour.ts';

describeStore('SQLite', tempStore);
