import { ForgeError } from '#kernel/errors.ts';
import type { AccessRefusal, AskedOperation } from './decide-call.ts';

/** The error that tells of it, with what helps. The one place where such a refusal becomes an error. */
export function explainAccess(
  { name, path }: Pick<AskedOperation, 'name' | 'path'>,
  refusal: AccessRefusal,
): ForgeError {
  const details = { operation: name };
  switch (refusal.outcome) {
    case 'not_admitted':
      return explainUnadmitted('A token is needed');
    case 'not_by_server':
      return new ForgeError(
        'not_available',
        `${name} works on the checkout or the terminal of whoever asks: no server can do it`,
        { hint: `forge ${path.join(' ')}`, details },
      );
    case 'scope': {
      const { needed, held } = refusal;
      return new ForgeError(
        'permission_denied',
        `${name} needs a token with the scope ${needed}; this one has ${held}`,
        { hint: `forge token create --scope ${needed}`, details: { ...details, needed, held } },
      );
    }
    case 'beyond_projects': {
      const { projects } = refusal;
      return new ForgeError(
        'permission_denied',
        `${name} is about the whole machine; this token is only for ${projects.join(', ')}`,
        { hint: 'forge token create --scope read', details: { ...details, projects } },
      );
    }
    case 'not_by_agents_token':
      // No command of the agent's own helps: a claim of another task least of all.
      return new ForgeError('permission_denied', refusal.why, {
        hint: 'A person has to do it: say what you need in a comment on a task of your own',
        details,
      });
    case 'not_the_holder': {
      const { id, agent, assignee } = refusal;
      return new ForgeError(
        'permission_denied',
        `${id} is not ${agent}'s: an agent changes only tasks that it holds`,
        { hint: 'forge claim --next', details: { ...details, id, assignee } },
      );
    }
    case 'not_by_run':
      return new ForgeError('permission_denied', refusal.why, {
        hint: 'Say what you need in a comment on your task, or create a task for it',
        details,
      });
    case 'for_people':
      return new ForgeError(
        'permission_denied',
        `${refusal.agent} is an agent: ${refusal.command} is for a person`,
        {
          hint: 'Do it yourself, in a terminal of your own; in a test, with a FORGE_HOME of its own',
          details,
        },
      );
  }
}

/** Of a request without a caller that the server knows. */
export function explainUnadmitted(message: string): ForgeError {
  return new ForgeError('unauthorized', message, {
    hint: "curl -H 'Authorization: Bearer …'; `forge token create --scope task` makes one",
  });
}
