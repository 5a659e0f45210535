import { driveSession } from './drive-session.ts';
import type { Executor, ExecutorTools, RunSpec } from './executor.ts';
import { CodexSession, type CodexSessionOptions } from './protocols/codex-session.ts';

/** Codex, by its app-server. */
export function createCodexExecutor(tools: ExecutorTools): Executor {
  return {
    start: (spec, host) =>
      driveSession({
        spec,
        host,
        tools,
        argv: [...(spec.profile.command ?? ['codex']), 'app-server'],
        hint: 'npm install -g @openai/codex',
        session: new CodexSession({
          prompt: spec.prompt,
          cwd: spec.cwd,
          resume: spec.session.resume ? spec.session.id : undefined,
          model: spec.profile.model,
          effort: spec.profile.effort,
          ...toCodexRules(spec),
          output_schema: spec.output_schema,
          version: tools.version,
          clock: tools.clock,
        }),
      }),
  };
}

/** What Codex allows itself; what it asks for besides is judged by the profile here. */
export function toCodexRules(spec: RunSpec): Pick<CodexSessionOptions, 'approval_policy' | 'sandbox'> {
  if (spec.read_only) return { approval_policy: 'on-request', sandbox: 'read-only' };
  switch (spec.profile.permissions) {
    case 'ask':
      return { approval_policy: 'untrusted', sandbox: 'workspace-write' };
    case 'edits':
      return { approval_policy: 'on-request', sandbox: 'workspace-write' };
    case 'all':
      return { approval_policy: 'never', sandbox: 'danger-full-access' };
  }
}
