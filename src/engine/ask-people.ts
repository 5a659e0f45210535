import type { Run } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { describeRequest } from '#domain/describe-request.ts';
import { allowsCommand } from '#executors/decide-permission.ts';
import type { ApprovalRequest, PermissionAnswer } from '#executors/executor.ts';
import { isInside } from '#executors/is-inside.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from '#store/store.ts';
import { followEvents } from '#store/follow-events.ts';
import type { Secrets } from './agent-secrets.ts';
import { systemWriter, type WorkPlace } from './work.ts';

interface Asking {
  readonly request: ApprovalRequest;
  readonly secrets: Pick<Secrets, 'redact' | 'redactValue'>;
  readonly tell: (entry: TranscriptEntry) => void;
}

/** What a run asks for: by what was allowed for the rest of its task, or by a person who is asked now. */
export async function answerRequest(
  place: WorkPlace,
  run: Run,
  { request, secrets, tell }: Asking,
): Promise<PermissionAnswer> {
  const { id, tool } = request;
  // What is asked for is kept and shown; the program knows it by the id.
  const shown = redactRequest(request, secrets);
  const text = describeRequest({ ...shown, command: shown.command ?? null });
  const about = { kind: 'approval', id, tool, request: text } as const;
  if (await isAlwaysAllowed(place, run, request)) {
    tell({ ...about, decision: 'allowed' });
    return { decision: 'allowed' };
  }
  tell({ ...about, decision: 'asked' });
  const answer = await askPeople(place, run, shown);
  tell({ ...about, decision: answer.decision });
  return answer;
}

function redactRequest(request: ApprovalRequest, { redact, redactValue }: Asking['secrets']) {
  const { command, paths, input, cwd, checkout } = request;
  // In another folder the same words do something else.
  const where = command === undefined || cwd === checkout ? [] : [cwd];
  return {
    ...request,
    input: redactValue(input),
    command: command === undefined ? undefined : redact(command),
    paths: [...where, ...paths.filter((path) => path !== cwd)].map(redact),
  };
}

/** By what a person allowed for the rest of this task. */
async function isAlwaysAllowed(
  { store }: WorkPlace,
  { task_id }: Run,
  { command, cwd, ...request }: ApprovalRequest,
): Promise<boolean> {
  if (command === undefined) return false;
  const rules = (await store.listApprovals({ task_id, always: true })).flatMap(({ always }) => always ?? []);
  // In a folder outside of the checkout the same words do something else.
  if (isInside(cwd, request.checkout) && rules.some(({ kind, text }) => kind === 'line' && text === command))
    return true;
  const prefixes = rules.flatMap(({ kind, text }) => (kind === 'prefix' ? [text] : []));
  return allowsCommand(command, prefixes, { cwd: request.checkout, at: cwd });
}

/** The answer comes by any process that a person uses, so it is looked for in the store. No answer means no. */
async function askPeople(
  place: WorkPlace,
  run: Run,
  { tool, input, command, paths, signal }: ApprovalRequest,
): Promise<PermissionAnswer> {
  const { store, clock } = place;
  const by: Writer = systemWriter(place);
  const asking = { id: crypto.randomUUID(), run_id: run.id, tool, input, command, paths };
  const { id } = await store.askApproval(asking, by);
  const until = clock.now() + LIMITS.approval_ms;
  const events = await followEvents(store);
  for (;;) {
    const asked = (await store.listApprovals({ run_id: run.id })).find((one) => one.id === id);
    if (asked === undefined) return { decision: 'expired' };
    if (asked.state !== 'pending')
      return { decision: asked.state, ...(asked.reason !== null && { reason: asked.reason }) };
    if (clock.now() >= until || signal?.aborted === true) {
      const ended = await store
        .answerApproval({ id, state: 'expired' }, systemWriter(place))
        .catch(() => undefined);
      // A person may have answered in this very moment.
      return { decision: ended?.state === 'expired' ? 'expired' : 'denied' };
    }
    await events.next({ signal, timeout_ms: Math.max(1, until - clock.now()) });
  }
}
