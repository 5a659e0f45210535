import { describePowerLoss } from '../support/power-loss-behaviour.ts';

describePowerLoss('power that fails at any write while a reader has the database open', {
  seeds: [2, 4, 6, 8, 10],
  held: true,
});
