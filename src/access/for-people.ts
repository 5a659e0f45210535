/** What decides who may do what, what is run and what is kept. No agent has a say in it, also outside of a run. */
const FOR_PEOPLE: ReadonlySet<string> = new Set([
  'agent.add',
  'agent.pause',
  'agent.remove',
  'agent.resume',
  'agent.token',
  'hooks.uninstall',
  'profile.add',
  'profile.remove',
  'project.pause',
  'project.remove',
  'project.resume',
  'project.trust',
  'project.uninstall',
  'server.run',
  'settings.set',
  'sync.import',
  'token.create',
  'token.list',
  'token.revoke',
  'token.rotate',
  'workflow.set',
]);

/** Of operations that are open to agents: what sets the project up anew, or puts its store in another's place. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  'project.init': ['upgrade'],
  'project.doctor': ['rebuild', 'fix'],
};

/** Whether an operation is a person's to do; `flag`: it is by this one alone. */
export function findForPeople(
  operation: string,
  input: Readonly<Record<string, unknown>>,
): { readonly flag: string | undefined } | undefined {
  const flag = FLAGS[operation]?.find((name) => input[name] === true);
  return flag !== undefined || FOR_PEOPLE.has(operation) ? { flag } : undefined;
}
