import { describeHostileAgents } from './run-behaviour.ts';

describeHostileAgents({ byDefault: 20, otherwise: 4 });
