/** How packages are got by what a project has at its top; the first that is there counts. */
const SETUPS: readonly (readonly [file: string, command: string])[] = [
  ['package-lock.json', 'npm ci'],
  ['npm-shrinkwrap.json', 'npm ci'],
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', 'yarn install --immutable'],
  ['bun.lock', 'bun install --frozen-lockfile'],
  ['bun.lockb', 'bun install --frozen-lockfile'],
  ['uv.lock', 'uv sync --frozen'],
  ['poetry.lock', 'poetry install'],
  ['Pipfile.lock', 'pipenv sync --dev'],
  ['Gemfile.lock', 'bundle install'],
  ['composer.lock', 'composer install'],
  ['mix.lock', 'mix deps.get'],
];

/** A set-up for checks, to be proposed to a person; undefined where nothing says that packages are needed. */
export function suggestSetup(
  isThere: (file: string) => boolean,
): { readonly file: string; readonly command: string } | undefined {
  const found = SETUPS.find(([file]) => isThere(file));
  return found && { file: found[0], command: found[1] };
}
