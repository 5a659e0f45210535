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
        // What lets a program work in a folder lets it believe the folder's settings too.
        env: spec.trusted ? preset?.env : withoutTrust(preset?.env),
        hint: preset?.install === undefined ? undefined : `npm install -g ${preset.install}`,
        session: new AcpSession({
          prompt: spec.prompt,
          cwd: spec.cwd,
          resume: spec.session.resume ? spec.session.id : undefined,
          model: preset?.model_flag === undefined ? spec.profile.model : undefined,
          mode: preset?.mode,
          output_schema: spec.output_schema,
          version: tools.version,
          clock: tools.clock,
        }),
      }),
  };
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

function withoutTrust(env: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.includes('TRUST')));
}
