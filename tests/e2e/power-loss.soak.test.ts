import { describePowerLoss } from '../support/power-loss-behaviour.ts';

describePowerLoss('power that fails at any write', { seeds: [1, 3, 5, 7, 9], held: false });
