/** How the message of a run begins to tell that the user's checkout is another one than before it. */
export const CHECKOUT_CHANGED = 'Your checkout has changed while it ran';

/** What the message of a run says of the user's checkout; undefined where it says nothing. */
export function findCheckoutChange(message: string | null): string | undefined {
  const at = message?.indexOf(CHECKOUT_CHANGED) ?? -1;
  return at < 0 ? undefined : message?.slice(at);
}
