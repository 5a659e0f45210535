import { memoryStore } from '../../tests/support/memory-store.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { describeWork } from './work-behaviour.ts';

describeWork('SQLite', () => tempStore({ lock: 'block' }));
describeWork('SQLite, in a process that must not stand still: the', () => tempStore({ lock: 'await' }));
describeWork('in memory', memoryStore);
