import { leavesAgent, parseActor, type Actor } from '#domain/actor.ts';
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
  const named = chooseName(options.flag, options.env);
  if (named !== undefined)
    return parseActor(checkIdentity(named, options.flag === undefined ? 'FORGE_ACTOR' : '--actor'), 'named');
  const name = findUserName(findRepository(options.cwd), options.env, userHome()) || loginName();
  return parseActor(checkIdentity(name, "git's user.name"), 'git');
}

/** What the caller says of itself, if anything. Throws permission_denied for an agent that says it is a person. */
export function chooseName(flag: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const agent = env.FORGE_ACTOR?.trim() || undefined;
  if (leavesAgent(agent, flag?.trim()))
    throw new ForgeError('permission_denied', `${agent} is an agent: it cannot act as ${flag}`, {
      hint: 'A person asks without it: unset FORGE_ACTOR',
      details: { actor: agent, asked: flag },
    });
  return flag ?? agent;
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
