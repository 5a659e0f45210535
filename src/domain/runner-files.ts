import { readTables } from './read-tables.ts';
import type { ScriptFinder } from './shell-scripts.ts';

const MAKEFILES = 'GNUmakefile makefile Makefile';
const TASKFILES = 'Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml';
const INVOKE = 'tasks.py tasks/ invoke.yaml invoke.yml invoke.json invoke.py';
const COMPOSE =
  'docker-compose.yml docker-compose.yaml compose.yml compose.yaml docker-compose.override.yml ' +
  'docker-compose.override.yaml compose.override.yml compose.override.yaml';
const BAKE = 'Dockerfile docker-bake.hcl docker-bake.json docker-bake.override.hcl';
const GRADLE =
  'build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties ' +
  'gradle/wrapper/gradle-wrapper.properties gradle/wrapper/gradle-wrapper.jar';
const MISE =
  'mise.toml .mise.toml mise.local.toml .mise.local.toml mise/ .mise/ .config/mise/ .config/mise.toml mise-tasks/ .mise-tasks/';
const LINT_STAGED =
  '.lintstagedrc .lintstagedrc.json .lintstagedrc.yaml .lintstagedrc.yml .lintstagedrc.js .lintstagedrc.mjs ' +
  '.lintstagedrc.cjs lint-staged.config.js lint-staged.config.mjs lint-staged.config.cjs';

/**
 * Programs that find what to do in a file of their own, or in the one that `-f` names. A name that ends with a slash is
 * a folder, and all below it counts.
 */
export const RUNNER_FILES = toTable({
  make: MAKEFILES,
  gmake: MAKEFILES,
  just: 'justfile Justfile .justfile',
  task: TASKFILES,
  'go-task': TASKFILES,
  rake: 'Rakefile rakefile Rakefile.rb rakefile.rb',
  tox: 'tox.ini tox.toml setup.cfg',
  nox: 'noxfile.py',
  invoke: INVOKE,
  inv: INVOKE,
  fab: 'fabfile.py fabfile/',
  doit: 'dodo.py doit.cfg',
  scons: 'SConstruct Sconstruct sconstruct SConstruct.py',
  waf: 'wscript',
  ninja: 'build.ninja',
  samu: 'build.ninja',
  poe: 'poe_tasks.toml poe_tasks.yaml poe_tasks.json',
  ant: 'build.xml',
  phing: 'build.xml',
  robo: 'RoboFile.php',
  gradle: GRADLE,
  gradlew: GRADLE,
  mvnw: '.mvn/',
  mix: 'mix.exs',
  rebar3: 'rebar.config',
  lein: 'project.clj',
  sbt: 'build.sbt project/build.properties .sbtopts .jvmopts',
  mage: 'magefile.go magefiles/',
  grunt: 'Gruntfile.js Gruntfile.cjs Gruntfile.ts Gruntfile.coffee',
  gulp: 'gulpfile.js gulpfile.cjs gulpfile.mjs gulpfile.ts gulpfile.js/',
  mise: MISE,
  awk: '',
  gawk: '',
  mawk: '',
  sed: '',
  jq: '',
  gojq: '',
  jaq: '',
  yq: '',
  lefthook: 'lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml lefthook-local.yml',
  'pre-commit': '.pre-commit-config.yaml',
  prek: '.pre-commit-config.yaml',
  'lint-staged': LINT_STAGED,
  'docker-compose': COMPOSE,
  'podman-compose': COMPOSE,
  earthly: 'Earthfile',
  dagger: 'dagger.json',
  act: '.github/workflows/ .actrc',
  nix: 'flake.nix',
  'nix-build': 'default.nix',
  'nix-shell': 'shell.nix default.nix',
});

/** Files by which a tool that takes files of the work is told what to run besides. */
const TOOL_FILES = toTable({
  bazel: '.bazelrc tools/bazel',
  bazelisk: '.bazelrc tools/bazel',
  cargo: '.cargo/config.toml .cargo/config Makefile.toml',
  mvn: '.mvn/',
  prove: '.proverc',
});

/** Options by which files are named that only count then. */
const OPTION_FILES = toTable({
  '--preset': 'CMakePresets.json CMakeUserPresets.json',
  '--workflow': 'CMakePresets.json CMakeUserPresets.json',
});

/** Verbs of `docker` and `podman`. */
const CONTAINER_FILES = toTable({
  compose: COMPOSE,
  build: 'Dockerfile Containerfile',
  buildx: BAKE,
  bake: BAKE,
});
const CONTAINERS = new Set(['docker', 'podman', 'nerdctl']);

/** Programs that run scripts of every package.json, and the files that say in which order and how. */
export const MANY_PACKAGES = toTable({
  turbo: 'turbo.json turbo.jsonc',
  nx: 'nx.json',
  lerna: 'lerna.json nx.json',
  lage: 'lage.config.js lage.config.mjs lage.config.cjs',
  moon: '.moon/',
  rush: 'rush.json common/config/rush/',
});
/** Files of each package that such a program reads. */
export const PACKAGE_FILES: readonly string[] = ['package.json', 'project.json', 'moon.yml', 'turbo.json'];

const ENTRY_POINTS = 'project[.](?:scripts|gui-scripts|entry-points)';
/** Tables in which a program that also runs others has scripts of its own. The rest of the file is the work's own. */
const TABLES: Readonly<Partial<Record<string, Readonly<Record<string, RegExp>>>>> = {
  tox: { 'pyproject.toml': /^tool[.]tox\b/ },
  doit: { 'pyproject.toml': /^tool[.]doit\b/ },
  poe: { 'pyproject.toml': /^tool[.]poe\b/ },
  hatch: { 'pyproject.toml': toTables('tool[.]hatch', ENTRY_POINTS), 'hatch.toml': /^(?:envs|env)\b/ },
  pdm: { 'pyproject.toml': toTables('tool[.]pdm[.]scripts', ENTRY_POINTS) },
  poetry: { 'pyproject.toml': toTables('tool[.]poetry[.](?:scripts|plugins)', ENTRY_POINTS) },
  rye: { 'pyproject.toml': toTables('tool[.]rye[.]scripts', ENTRY_POINTS) },
  uv: { 'pyproject.toml': toTables(ENTRY_POINTS) },
  pixi: {
    'pyproject.toml': toTables('tool[.]pixi[.](?:.*[.])?(?:tasks|activation)', ENTRY_POINTS),
    'pixi.toml': /^(?:.*[.])?(?:tasks|activation)\b/,
  },
  pipenv: { Pipfile: /^scripts\b/ },
};

/** Names of files by the program, without what every object has. */
function toTable(names: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(names).map(([key, text]) => [key, text.split(' ').filter((one) => one !== '')]),
  );
}

function toTables(...names: readonly string[]): RegExp {
  return new RegExp(`^(?:${names.join('|')})(?![\\w-])`);
}

/** What a program reads by itself, with any arguments. */
export function addOwnFiles(finder: ScriptFinder, program: string, args: readonly string[]): void {
  const verb = args.find((word) => !word.startsWith('-')) ?? '';
  const names = [
    ...(TOOL_FILES.get(program) ?? []),
    ...((CONTAINERS.has(program) ? CONTAINER_FILES.get(verb) : undefined) ?? []),
    ...args.flatMap((word) => OPTION_FILES.get(word.split('=')[0] ?? '') ?? []),
  ];
  for (const name of names) addThere(finder, name);
  addTables(finder, program);
}

/** Whether it is there. */
export function addThere(finder: ScriptFinder, name: string): boolean {
  const isThere = name.endsWith('/') ? finder.isFolder(name) : finder.isThere(name);
  if (isThere) finder.addFile(name);
  return isThere;
}

function addTables(finder: ScriptFinder, program: string): void {
  if (!Object.hasOwn(TABLES, program)) return;
  for (const [name, wanted] of Object.entries(TABLES[program] ?? {})) {
    for (const path of finder.resolve(name)) {
      const text = finder.view.readText(path);
      if (text !== undefined) finder.add({ path, part: readTables(text, wanted) });
      // Without any file of its own a runner does nothing, and says that it went well.
      else if (RUNNER_FILES.has(program)) finder.add({ path });
    }
  }
}
