import { describeHostileAgents } from './run-behaviour.ts';

describeHostileAgents({ byDefault: 8, otherwise: 4 });
