import { memoryStore } from '../../tests/support/memory-store.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { describeRequests } from './behaviour/request-behaviour.ts';

describeRequests('SQLite', () => tempStore());
describeRequests('in memory', memoryStore);
