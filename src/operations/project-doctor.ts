import type { examineProject as declaration } from '#contract/sync-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { examineProject } from '#sync/examine-project.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

const SIGNS = { ok: 'ok     ', fixed: 'fixed  ', warning: 'warning', failed: 'FAILED ' } as const;

export const projectDoctor = implement<typeof declaration>({
  async run(ctx, input) {
    const findings = await examineProject({
      project: ctx.project,
      machine: ctx.machine,
      by: await writerOf(ctx),
      fix: input.fix === true,
      pr: input.pr,
    });
    return { healthy: findings.every(({ state }) => state !== 'failed'), findings };
  },
  text({ findings, healthy }) {
    const width = Math.max(...findings.map(({ name }) => name.length));
    const lines = findings.map(({ name, state, message, hint }) => {
      const next = hint === null ? '' : `\n  try: ${escapeLine(hint)}`;
      return `${SIGNS[state]}  ${name.padEnd(width)}  ${escapeLine(message)}${next}`;
    });
    return [...lines, healthy ? 'Nothing is broken' : 'Something is broken: see above'].join('\n');
  },
});
