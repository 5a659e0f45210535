/** What a request to a server brings along. Nothing in its address is ever looked at. */
export interface AdmissionFacts {
  /** Of the Authorization header: none, one that is known, or anything else. */
  readonly token: 'none' | 'known' | 'unknown';
  /** A browser's session, whose token is alive. */
  readonly session: boolean;
  /** The session's own Forge-Csrf header, which a page of another site cannot send. */
  readonly csrf: boolean;
  /** It is no look. */
  readonly changes: boolean;
}

export type AdmissionDecision =
  | { readonly outcome: 'by_token' | 'by_session' }
  | { readonly outcome: 'refused'; readonly why: string };

/** A token is a caller; a session alone only reads, and changes something only together with its own header. */
export function decideAdmission({ token, session, csrf, changes }: AdmissionFacts): AdmissionDecision {
  if (token === 'known') return { outcome: 'by_token' };
  if (token === 'unknown') return { outcome: 'refused', why: 'The token is not known, or was revoked' };
  if (!session) return { outcome: 'refused', why: 'A token is needed' };
  if (changes && !csrf)
    return {
      outcome: 'refused',
      why: 'A session alone changes nothing: send its Forge-Csrf header, or a token',
    };
  return { outcome: 'by_session' };
}
