import { isBelievable } from '#domain/said-total.ts';
import { numberOf } from './fields.ts';

/** Reads the figures of a program's reports. One that cannot be true is left out, and kept to be told. */
export class SaidFigures {
  /** As it is told to a person: `1e+300 USD`. */
  refused: string | undefined;

  usd(value: unknown): number | undefined {
    return this.#read(value, 'usd');
  }

  /** Tokens are whole. */
  tokens(value: unknown): number | undefined {
    const count = this.#read(value, 'tokens');
    return count !== undefined && Number.isInteger(count) ? count : undefined;
  }

  #read(value: unknown, unit: 'usd' | 'tokens'): number | undefined {
    const amount = numberOf(value);
    if (amount === undefined || isBelievable(amount, unit)) return amount;
    this.refused = `${amount} ${unit === 'usd' ? 'USD' : 'tokens'}`;
    return undefined;
  }
}
