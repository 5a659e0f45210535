import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { driveSession } from './drive-session.ts';
import type { AcpPreset } from './acp-presets.ts';
import type { Executor, ExecutorTools, RunSpec } from './executor.ts';
import { fieldsOf, parseFields, type Fields } from './protocols/fields.ts';
import { AcpSession } from './protocols/acp-session.ts';
import { withCleanUp } from './with-clean-up.ts';

/** Any agent that speaks the Agent Client Protocol: one of the presets, or the command of the profile. */
export function createAcpExecutor(
  tools: ExecutorTools,
  preset?: AcpPreset & { readonly install?: string },
): Executor {
  return {
    async start(spec, host) {
      const policy = await writePolicy(preset);
      const drive = {
        spec,
        host,
        tools,
        argv: [...toAcpArgv(spec, preset), ...policy.argv],
        env: toAcpEnvironment(spec, preset),
        hint: preset?.install === undefined ? undefined : `npm install -g ${preset.install}`,
        session: toAcpSession(spec, { ...tools, preset }),
      };
      return withCleanUp(() => driveSession(drive), policy.remove);
    },
  };
}

/** The program reads it when it starts; it lies where the checkout does not. */
async function writePolicy(
  preset: AcpPreset | undefined,
): Promise<{ readonly argv: readonly string[]; readonly remove: () => Promise<void> }> {
  if (preset?.policy === undefined) return { argv: [], remove: async () => {} };
  const { flag, name, text } = preset.policy;
  const folder = await mkdtemp(join(tmpdir(), 'forge-policy-'));
  const path = join(folder, name);
  await writeFile(path, text);
  // What is left of it is the system's to clean up.
  return { argv: [flag, path], remove: () => rm(folder, { recursive: true, force: true }).catch(() => {}) };
}

export function toAcpEnvironment(
  { env, trusted }: Pick<RunSpec, 'env' | 'trusted'>,
  preset: AcpPreset | undefined,
): Readonly<Record<string, string>> {
  const given = {
    ...preset?.env,
    ...(trusted ? preset?.trusted_env : preset?.untrusted_env),
    ...(preset?.password !== undefined && { [preset.password]: randomBytes(24).toString('base64url') }),
  };
  if (preset?.settings === undefined) return given;
  const { variable, fixed } = preset.settings;
  return {
    ...given,
    [variable]: JSON.stringify(mergeSettings(parseFields(env[variable] ?? '{}') ?? {}, fixed)),
  };
}

/** Key by key; what is fixed wins. */
function mergeSettings(own: Fields, fixed: Fields): Fields {
  const merged = Object.entries(fixed).map(([key, value]) => {
    const isBoth = isFields(value) && isFields(own[key]);
    return [key, isBoth ? mergeSettings(fieldsOf(own[key]), fieldsOf(value)) : value] as const;
  });
  return { ...own, ...Object.fromEntries(merged) };
}

function isFields(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
