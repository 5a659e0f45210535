import { judgeNamed, parseActor, type Actor } from '#domain/actor.ts';
import { findRepository } from '#git/find-repository.ts';
import { findUserName } from '#git/read-user-name.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { userHome } from './user-home.ts';

/** Who asks: the flag, the environment, git's user.name, the login name, in this order. */
export function findActor(options: {
  readonly flag: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}): Actor {
  const named = refusePerson(options.flag, options.env);
  if (named !== undefined)
    return parseActor(checkIdentity(named, options.flag === undefined ? 'FORGE_ACTOR' : '--actor'), 'named');
  const name = findUserName(findRepository(options.cwd), options.env, userHome()) || loginName();
  return parseActor(checkIdentity(name, "git's user.name"), 'git');
}

/**
 * What the caller says of itself, if anything. Throws permission_denied for an agent that says it is a person, or that
 * bears a name which is not a registered agent's: it may be a person's.
 */
export async function chooseName(
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const named = refusePerson(flag, env);
  if (flag === undefined || judgeNamed(findAgent(env), flag.trim()) !== 'other_agent') return named;
  const [{ listAgents }, { findForgeHome }] = await Promise.all([
    import('#sync/agent-identities.ts'),
    import('#sync/forge-home.ts'),
  ]);
  const { name } = parseActor(flag.trim(), 'named');
  if (listAgents(findForgeHome(env, userHome())).some((one) => one.name === name)) return named;
  throw denied(findAgent(env), `${flag}, which is no registered agent`);
}

function findAgent(env: NodeJS.ProcessEnv): string | undefined {
  return env.FORGE_ACTOR?.trim() || undefined;
}

function refusePerson(flag: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const agent = findAgent(env);
  if (judgeNamed(agent, flag?.trim()) === 'person') throw denied(agent, String(flag));
  return flag ?? agent;
}

function denied(agent: string | undefined, asked: string): ForgeError {
  return new ForgeError('permission_denied', `${agent} is an agent: it cannot act as ${asked}`, {
    hint: 'A person asks without it: unset FORGE_ACTOR',
    details: { actor: agent, asked },
  });
}

function checkIdentity(text: string, from: string): string {
  const identity = text.trim();
  // The same rule as the contract's Identity, whose schema a write must not have to load.
  if (identity !== '' && identity.length <= LIMITS.identity_length && !/[\u0000-\u001f\u007f]/.test(identity))
    return identity;
  throw new ForgeError(
    'invalid_input',
    `${from} is not an identity: one line of 1 to ${LIMITS.identity_length} characters`,
    {
      hint: 'FORGE_ACTOR=worker-1 forge …',
    },
  );
}

function loginName(): string {
  try {
    return process.getBuiltinModule('node:os').userInfo().username;
  } catch {
    // A container may run under a user id without a name.
    return `uid-${process.getuid?.() ?? 0}`;
  }
}
