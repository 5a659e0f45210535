import { describeHostileAgents } from './run-behaviour.ts';

describeHostileAgents(4);
