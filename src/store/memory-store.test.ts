import { memoryStore } from '../../tests/support/memory-store.ts';
import { describeStore } from './store-behaviour.ts';

describeStore('in memory', memoryStore);
