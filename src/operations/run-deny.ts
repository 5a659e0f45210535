import type { denyRun as declaration } from '#contract/run-operations.ts';
import { answerApproval, approvalText } from './answer-approval.ts';
import { implement } from './operation.ts';

export const runDeny = implement<typeof declaration>({
  run: (ctx, input) => answerApproval(ctx, input, { state: 'denied', reason: input.reason }),
  text: approvalText,
});
