import type { approveRun as declaration } from '#contract/run-operations.ts';
import { answerApproval, approvalText } from './answer-approval.ts';
import { implement } from './operation.ts';

export const runApprove = implement<typeof declaration>({
  run: (ctx, input) =>
    answerApproval(ctx, input, { state: 'allowed', always: input.always, prefix: input.prefix }),
  text: approvalText,
});
