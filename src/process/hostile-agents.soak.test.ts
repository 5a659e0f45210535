import { describeHostileAgents } from './run-behaviour.ts';

describeHostileAgents({ byDefault: 200, otherwise: 200 });
