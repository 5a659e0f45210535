import { LIMITS } from './limits.ts';
import { cutText } from './text.ts';

/** One error class, one table. A code without a row here does not compile. */
export const ERROR_CODES = {
  internal: { http: 500, exit: 1, retryable: false },
  invalid_input: { http: 400, exit: 2, retryable: false },
  usage: { http: 400, exit: 2, retryable: false },
  not_found: { http: 404, exit: 3, retryable: false },
  nothing_ready: { http: 404, exit: 3, retryable: true },
  ambiguous_id: { http: 409, exit: 4, retryable: false },
  already_exists: { http: 409, exit: 4, retryable: false },
  claim_conflict: { http: 409, exit: 4, retryable: false },
  version_conflict: { http: 409, exit: 4, retryable: true },
  fence_conflict: { http: 409, exit: 4, retryable: false },
  dependency_cycle: { http: 409, exit: 5, retryable: false },
  dependency_gate: { http: 409, exit: 5, retryable: false },
  state_invalid: { http: 409, exit: 5, retryable: false },
  guard_rejected: { http: 412, exit: 5, retryable: false },
  agent_paused: { http: 409, exit: 5, retryable: true },
  project_paused: { http: 409, exit: 5, retryable: true },
  role_conflict: { http: 409, exit: 4, retryable: false },
  not_available: { http: 501, exit: 7, retryable: false },
  not_a_project: { http: 404, exit: 5, retryable: false },
  not_a_repository: { http: 404, exit: 5, retryable: false },
  schema_newer: { http: 409, exit: 5, retryable: false },
  unauthorized: { http: 401, exit: 6, retryable: false },
  permission_denied: { http: 403, exit: 6, retryable: false },
  untrusted: { http: 403, exit: 6, retryable: false },
  read_only: { http: 403, exit: 6, retryable: false },
  misdirected: { http: 421, exit: 6, retryable: false },
  method_not_allowed: { http: 405, exit: 2, retryable: false },
  unsupported_media_type: { http: 415, exit: 2, retryable: false },
  too_large: { http: 413, exit: 2, retryable: false },
  url_too_long: { http: 414, exit: 2, retryable: false },
  expectation_failed: { http: 417, exit: 2, retryable: false },
  headers_too_large: { http: 431, exit: 2, retryable: false },
  too_many_requests: { http: 429, exit: 1, retryable: true },
  // Not 408: browsers and proxies send a request again by themselves when they see that.
  wait_timeout: { http: 409, exit: 1, retryable: true },
  request_timeout: { http: 408, exit: 1, retryable: true },
  idempotency_conflict: { http: 409, exit: 4, retryable: false },
  server_unreachable: { http: 502, exit: 1, retryable: true },
  dependency_missing: { http: 500, exit: 7, retryable: false },
  server_busy: { http: 503, exit: 1, retryable: true },
  store_busy: { http: 503, exit: 1, retryable: true },
  store_corrupt: { http: 500, exit: 1, retryable: false },
  disk_full: { http: 507, exit: 1, retryable: true },
  io_failed: { http: 500, exit: 1, retryable: false },
  interrupted: { http: 499, exit: 130, retryable: true },
} as const satisfies Record<string, { http: number; exit: number; retryable: boolean }>;

export type ErrorCode = keyof typeof ERROR_CODES;

export type ErrorDetails = Readonly<Record<string, unknown>>;

/** Two bundles may meet in one process, so `instanceof` is not enough. */
const MARKER = Symbol.for('forge.error');

export class ForgeError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: ErrorDetails;
  readonly [MARKER] = true;

  constructor(
    code: ErrorCode,
    message: string,
    more: { hint?: string; details?: ErrorDetails; cause?: unknown } = {},
  ) {
    super(
      cutText(message, LIMITS.error_message_length),
      more.cause === undefined ? undefined : { cause: more.cause },
    );
    this.name = 'ForgeError';
    this.code = code;
    this.hint = more.hint === undefined ? undefined : cutText(more.hint, LIMITS.error_message_length);
    this.details = more.details ?? {};
  }
}

export function isForgeError(value: unknown): value is ForgeError {
  return typeof value === 'object' && value !== null && MARKER in value;
}

/** What every surface shows of an error; `hint` only where there is one. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  hint?: string;
  details: ErrorDetails;
}

export function toErrorBody(error: unknown): ErrorBody {
  if (isForgeError(error)) {
    return {
      code: error.code,
      message: error.message,
      ...(error.hint !== undefined && { hint: error.hint }),
      details: cutDetails(error.details),
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  const shown = cutText(message, LIMITS.error_message_length);
  return { code: 'internal', message: `Unexpected failure: ${shown}`, details: {} };
}

/** Details are small; where others' values made them large, they are cut, and say so. */
function cutDetails(details: ErrorDetails): ErrorDetails {
  const text = JSON.stringify(details);
  if (text.length <= LIMITS.error_details_length) return details;
  const cut = JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === 'string') return cutText(value);
    if (!Array.isArray(value) || value.length <= LIMITS.error_names) return value;
    return [...(value as unknown[]).slice(0, LIMITS.error_names), `… (${value.length} in all)`];
  }) as Record<string, unknown>;
  if (JSON.stringify(cut).length <= LIMITS.error_details_length) return cut;
  return { cut: `${text.length} characters` };
}
