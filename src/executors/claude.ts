import { driveSession } from './drive-session.ts';
import type { Executor, ExecutorTools, RunSpec } from './executor.ts';
import { ClaudeSession } from './protocols/claude-session.ts';
import { ASKED_TOOLS, UNWANTED_TOOLS, WRITING_TOOLS } from './protocols/claude-tools.ts';

/** Claude Code, by its control protocol. */
export function createClaudeExecutor(tools: ExecutorTools): Executor {
  return {
    start: (spec, host) =>
      driveSession({
        spec,
        host,
        tools,
        argv: toClaudeArgv(spec),
        hint: 'npm install -g @anthropic-ai/claude-code',
        session: toClaudeSession(spec, tools),
      }),
  };
}

export function toClaudeSession(
  spec: RunSpec,
  { clock, createId }: Pick<ExecutorTools, 'clock'> & { readonly createId?: () => string },
): ClaudeSession {
  return new ClaudeSession({
    prompt: spec.prompt,
    session_id: spec.session.id,
    clock,
    createId: createId ?? (() => crypto.randomUUID()),
  });
}

export function toClaudeArgv(spec: RunSpec): readonly string[] {
  const { profile, session } = spec;
  const unwanted = spec.read_only ? [...UNWANTED_TOOLS, ...WRITING_TOOLS] : UNWANTED_TOOLS;
  const who = session.resume ? '--resume' : '--session-id';
  const flags: Readonly<Record<string, string | undefined>> = {
    '--output-format': 'stream-json',
    '--input-format': 'stream-json',
    // Every question comes here, and is asked also where the user's own settings allow it: the profile is what decides.
    '--settings': JSON.stringify({ permissions: { ask: ASKED_TOOLS } }),
    '--permission-prompt-tool': 'stdio',
    '--permission-mode': 'default',
    '--disallowedTools': unwanted.join(','),
    [who]: session.id,
    '--model': profile.model,
    '--effort': profile.effort,
    '--json-schema': spec.output_schema === undefined ? undefined : JSON.stringify(spec.output_schema),
    // A repository votes on nothing: no hooks, permissions or servers from its files.
    '--setting-sources': spec.trusted ? undefined : 'user',
  };
  const given = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  const strict = spec.trusted ? [] : ['--strict-mcp-config'];
  return [...(profile.command ?? ['claude']), '-p', '--verbose', ...given, ...strict];
}
