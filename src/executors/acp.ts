import { ForgeError } from '#kernel/errors.ts';
import { driveSession } from './drive-session.ts';
import type { AcpPreset } from './acp-presets.ts';
import type { Executor, ExecutorTools, RunSpec } from './executor.ts';
import { AcpSession } from './protocols/acp-session.ts';

/** Any agent that speaks the Agent Client Protocol: one of the presets, or the command of the profile. */
export function createAcpExecutor(
  tools: ExecutorTools,
  preset?: AcpPreset & { readonly install?: string },
): Executor {
  return {
    start: async (spec, host) =>
      driveSession({
        spec,
        host,
        tools,
        argv: toAcpArgv(spec, preset),
        env: { ...preset?.env, ...(spec.trusted ? preset?.trusted_env : preset?.untrusted_env) },
        hint: preset?.install === undefined ? undefined : `npm install -g ${preset.install}`,
        session: toAcpSession(spec, { ...tools, preset }),
      }),
  };
}

export function toAcpSession(
  spec: RunSpec,
  {
    preset,
    version,
    clock,
    countOpencode,
  }: Pick<ExecutorTools, 'version' | 'clock' | 'countOpencode'> & { readonly preset: AcpPreset | undefined },
): AcpSession {
  const { env } = spec;
  return new AcpSession({
    prompt: spec.prompt,
    cwd: spec.cwd,
    resume: spec.session.resume ? spec.session.id : undefined,
    model: preset?.model_flag === undefined ? spec.profile.model : undefined,
    mode: preset?.mode,
    output_schema: spec.output_schema,
    counts: preset?.counts,
    writes_itself: preset?.writes_itself,
    readBooks:
      preset?.books === 'opencode'
        ? (session_id) => countOpencode?.({ env: { ...env, ...preset.env }, session_id })
        : undefined,
    version,
    clock,
  });
}

export function toAcpArgv({ profile }: RunSpec, preset: AcpPreset | undefined): readonly string[] {
  const command = profile.command ?? preset?.command;
  if (command === undefined || command.length === 0) {
    throw new ForgeError('invalid_input', 'The acp executor needs the command of an agent', {
      hint: 'forge agent add <name> --executor acp --command <program> --command <argument>',
    });
  }
  const flag = preset?.model_flag;
  return flag === undefined || profile.model === undefined ? command : [...command, flag, profile.model];
}
