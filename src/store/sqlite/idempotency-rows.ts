import { decideRequest, type RememberedRequest } from '#domain/decide-request.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { KeptAnswer, RequestKey, RequestOutcome } from '../idempotency-store.ts';
import type { Database, Row } from './database.ts';

/** By primary key. */
export function beginRequest(db: Database, { token, key, digest, now }: RequestKey): RequestOutcome {
  // Uses idx_idempotency_keys_created_at.
  db.run('DELETE FROM idempotency_keys WHERE created_at <= ?', now - LIMITS.idempotency_ms);
  const row = db.get(
    'SELECT digest, state, status, headers, body, created_at FROM idempotency_keys WHERE token = ? AND key = ?',
    token,
    key,
  );
  const decision = decideRequest(row === undefined ? undefined : toRemembered(row), digest);
  if (decision.outcome === 'new')
    db.run(
      "INSERT INTO idempotency_keys (token, key, digest, state, created_at) VALUES (?, ?, ?, 'pending', ?)",
      token,
      key,
      digest,
      now,
    );
  return decision;
}

function toRemembered(row: Row): RememberedRequest<KeptAnswer> {
  const { digest, created_at, status, body } = row as {
    digest: string;
    created_at: number;
    status: number;
    body: string;
  };
  if (row.state !== 'done') return { digest, began_at: created_at, answer: undefined };
  const headers = JSON.parse(row.headers as string) as KeptAnswer['headers']; // as finishRequest wrote it
  return { digest, began_at: created_at, answer: { status, headers, body } };
}

export function finishRequest(db: Database, { token, key }: RequestKey, answer: KeptAnswer): void {
  db.run(
    "UPDATE idempotency_keys SET state = 'done', status = ?, headers = ?, body = ? WHERE token = ? AND key = ? AND state = 'pending'",
    answer.status,
    JSON.stringify(answer.headers),
    answer.body,
    token,
    key,
  );
}

export function dropRequest(db: Database, { token, key }: RequestKey): void {
  db.run("DELETE FROM idempotency_keys WHERE token = ? AND key = ? AND state = 'pending'", token, key);
}
