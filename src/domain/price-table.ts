/** USD for a million tokens. */
export interface Price {
  readonly input: number;
  /** Read from a cache. */
  readonly cached: number;
  readonly output: number;
}

/** When the table was made: from the price lists of Anthropic, OpenAI and Google, as models.dev has them. */
export const PRICES_AS_OF = '2026-10';

/**
 * What models cost by list: the first tier, without the discounts and surcharges that a contract, a batch or a long
 * context may bring. For programs that tell tokens and no cost; a model that is not here has no cost.
 */
const TABLE: Readonly<Record<string, readonly [input: number, cached: number, output: number]>> = {
  'claude-fable-5': [10, 1, 50],
  'claude-fable-5-1': [10, 0.25, 50],
  'claude-opus-5-5': [4, 0.2, 20],
  'claude-opus-5': [5, 0.5, 25],
  'claude-opus-4-8': [5, 0.5, 25],
  'claude-opus-4-7': [5, 0.5, 25],
  'claude-opus-4-6': [5, 0.5, 25],
  'claude-opus-4-5': [5, 0.5, 25],
  'claude-sonnet-5': [2, 0.2, 10],
  'claude-sonnet-4-6': [3, 0.3, 15],
  'claude-sonnet-4-5': [3, 0.3, 15],
  'claude-haiku-4-5': [1, 0.1, 5],
  'gpt-6-astra': [10, 1, 50],
  'gpt-6-sol': [2, 0.2, 10],
  'gpt-6-luna': [0.1, 0.01, 0.5],
  'gpt-5.6': [4, 0.4, 20],
  'gpt-5.6-sol': [4, 0.4, 20],
  'gpt-5.6-terra': [2, 0.2, 12],
  'gpt-5.6-luna': [0.2, 0.02, 1.2],
  'gpt-5.5': [5, 0.5, 30],
  'gpt-5.4': [2.5, 0.25, 15],
  'gpt-5.4-mini': [0.75, 0.075, 4.5],
  'gpt-5.4-nano': [0.2, 0.02, 1.25],
  'gpt-5.3-codex': [1.75, 0.175, 14],
  'gpt-5.2': [1.75, 0.175, 14],
  'gpt-5.1': [1.25, 0.125, 10],
  'gpt-5': [1.25, 0.125, 10],
  'gpt-5-mini': [0.25, 0.025, 2],
  'gpt-5-nano': [0.05, 0.005, 0.4],
  'gemini-3.8-flash': [0.75, 0.075, 3.75],
  'gemini-3.7-flash': [0.75, 0.075, 3.75],
  'gemini-3.6-flash': [0.75, 0.075, 3.75],
  'gemini-3.5-flash': [1.5, 0.15, 9],
  'gemini-3.5-flash-lite': [0.3, 0.03, 2.5],
  'gemini-3.1-pro-preview': [2, 0.2, 12],
  'gemini-3.1-flash-lite': [0.25, 0.025, 1.5],
  'gemini-3-flash-preview': [0.5, 0.05, 3],
  'gemini-2.5-pro': [1.25, 0.125, 10],
  'gemini-2.5-flash': [0.3, 0.03, 2.5],
  'gemini-2.5-flash-lite': [0.1, 0.01, 0.4],
};

/** The day of a release, or the word that stands for the newest. Any other end is another model: `gpt-5-pro`. */
const RELEASE = /^(?:[-@]\d{4}-?\d{2}-?\d{2}|-latest)?$/;

/** What a person said of prices comes before the table. A name of theirs that ends in `*` is the beginning of names. */
export function findPrice(model: string, own: ReadonlyMap<string, Price> = new Map()): Price | undefined {
  const names = listNames(model);
  for (const name of names) {
    const exact = own.get(name);
    if (exact !== undefined) return exact;
  }
  const begun = [...own]
    .filter(([key]) => key.endsWith('*') && names.some((name) => name.startsWith(key.slice(0, -1))))
    .toSorted(([a], [b]) => b.length - a.length)[0];
  if (begun !== undefined) return begun[1];
  const bare = names.at(-1) ?? '';
  const key = Object.keys(TABLE).find((one) => bare.startsWith(one) && RELEASE.test(bare.slice(one.length)));
  const listed = key === undefined ? undefined : TABLE[key];
  if (listed === undefined) return undefined;
  const [input, cached, output] = listed;
  return { input, cached, output };
}

/** As it was given, without the provider before it, and without the word for a longer context behind it. */
function listNames(model: string): readonly string[] {
  const behind = model.slice(model.lastIndexOf('/') + 1);
  const bare = behind.replace(/\[1m\]$/, '');
  return [...new Set([model, behind, bare])];
}
