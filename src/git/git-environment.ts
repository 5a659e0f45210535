type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment for a git of ours. Inside a hook git's variables name the repository, the index and the author of
 * the commit that is being made there; a command of ours that inherited them would write into that one. So of what
 * begins with GIT_ only the settings of a person stay: who they are, how they reach a server, where their
 * configuration is. Output is English and unpaged because it is parsed, and nothing ever asks on the terminal.
 */
export function gitEnvironment(env: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (!/^GIT_/i.test(name) || PERSONAL.test(name))) kept[name] = value;
  }
  if (isInsideHook(env)) replaceAuthor(kept);
  // A GIT_EDITOR of "false" rather than none: a git that wants one must fail, not wait.
  return { ...kept, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat', GIT_EDITOR: 'false' };
}

const PERSONAL =
  /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+|PARAMETERS)|SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_\w+|PROXY_\w+|HTTP_\w+|ALLOW_PROTOCOL|PROTOCOL_FROM_USER|EXEC_PATH|TRACE\w*)$/;

function isInsideHook(env: Environment): boolean {
  return ['GIT_DIR', 'GIT_INDEX_FILE', 'GIT_PREFIX'].some((name) => env[name] !== undefined);
}

/**
 * `git commit` tells its hooks the author of the commit, who with --amend or --author is somebody else. Whoever has
 * no other identity than the environment's still has the committer's.
 */
function replaceAuthor(kept: Record<string, string>): void {
  for (const part of ['NAME', 'EMAIL']) {
    const committer = kept[`GIT_COMMITTER_${part}`];
    if (committer === undefined) delete kept[`GIT_AUTHOR_${part}`];
    else kept[`GIT_AUTHOR_${part}`] = committer;
  }
  delete kept['GIT_AUTHOR_DATE'];
  delete kept['GIT_COMMITTER_DATE'];
}
