/** What reads, or leads to, a config, a workflow, a mode or a data branch of a repository. */
const NAMES = [
  'findProject',
  'readStandingConfig',
  'readSharedConfigBytes',
  'refreshSharedConfig',
  'parseProjectConfig',
  'findConfigChange',
  'findSharedProjects',
  'fetchSharedProjects',
  'findModeChange',
  'findWorkflow',
  'readWorkflow',
  'openWorkflowReader',
  'refreshSharedWorkflow',
  'readWorkSettings',
  'readRepositorySettings',
  'listUnknownSettings',
  'readDataBranch',
  'CONFIG_PATH',
  'WORKFLOW_PATH',
  'shared_config',
] as const;

/** The files by their names, and the field of the paths. */
const PLACES = /['"`][^'"`\s]*\b(?:config|workflow)\.json['"`]|paths\.config\b/;

/** What a source uses of it; comments do not count, nor do names of files inside of a sentence. */
export function findGateReads(source: string): string[] {
  const code = source.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
  const names = NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(code));
  return [...names, ...(PLACES.exec(code)?.slice(0, 1) ?? [])];
}

const BY_FIND =
  'findProject takes the copy where the checkout may be an attempt; confirmConfig asks git on opening';
const BY_GATES = 'asks GateFiles, or findGatePaths, which file counts';
const GIVEN = 'reads where its caller says, who has asked GateFiles';
const NO_CONTENT = 'looks only whether the file is there, or names it; what it says is not read';
const HOME = 'another config.json, in a home';

/** Every file of `src` that does, with why what an attempt wrote changes nothing there before it is merged. */
export const GATE_READERS: Readonly<Record<string, string>> = {
  'src/app/keep-disk-bounded.ts': BY_GATES,
  'src/app/keep-up-project.ts': BY_GATES,
  'src/app/local-host.ts': BY_FIND,
  'src/app/open-context.ts': `${BY_FIND}; the workflow by GateFiles`,
  'src/app/project-identities.ts': NO_CONTENT,
  'src/sync/project-workflow.ts': BY_GATES,
  'src/app/open-workshop.ts': BY_GATES,
  'src/app/read-confirmed.ts': BY_FIND,
  'src/app/remote-operation.ts': BY_FIND,
  'src/app/run/inside-run.ts': BY_FIND,
  'src/app/serve/server-project.ts': BY_GATES,
  'src/app/server-projects.ts': `${BY_FIND}, and whenever it follows a newer one`,
  'src/engine/gate-changes.ts': 'names the files by which an attempt has to wait for a person',
  'src/engine/list-places.ts': BY_FIND,
  'src/executors/cli-places.ts': HOME,
  'src/operations/counting-workflow.ts': BY_GATES,
  'src/operations/find-batch-tasks.ts': BY_FIND,
  'src/operations/git-hook.ts': BY_FIND,
  'src/operations/kept-place.ts': BY_GATES,
  'src/operations/project-doctor.ts': BY_GATES,
  'src/operations/project-init.ts': BY_FIND,
  'src/operations/project-status.ts': BY_GATES,
  'src/operations/project-uninstall.ts': BY_FIND,
  'src/operations/read-batch.ts': BY_FIND,
  'src/operations/task-show.ts': 'its own findWorkflow gives that of the context, which asks GateFiles',
  'src/operations/wait-place.ts': BY_GATES,
  'src/operations/workflow-validate.ts':
    'says of the file in the checkout whether it is one; it takes no effect',
  'src/sync/attempt-targets.ts': 'reads the config of the default branch alone',
  'src/sync/branch-mode.ts': `${BY_GATES}; of the data branch findHeldAt and findHeldFilesAt`,
  'src/sync/catch-up.ts': 'readDataBranch leaves out what is held',
  'src/sync/change-mode.ts': 'refuses to move a project where one of the files is held',
  'src/sync/check-init-place.ts': NO_CONTENT,
  'src/sync/commit-tasks.ts': NO_CONTENT,
  'src/sync/confirm-config.ts': 'is the check',
  'src/sync/deleted-config.ts': NO_CONTENT,
  'src/sync/examine-project.ts': BY_GATES,
  'src/sync/explain-no-project.ts': 'findSharedProjects leaves attempts out',
  'src/sync/find-project.ts': 'readStandingConfig takes the copy where the checkout may be an attempt',
  'src/sync/find-shared-project.ts': 'leaves branches of attempts out, and configs that are held',
  'src/sync/flag-secrets.ts': NO_CONTENT,
  'src/sync/folder-state.ts': NO_CONTENT,
  'src/sync/follow-mode.ts': 'findSharedProjects leaves attempts out; what it settles was confirmed',
  'src/sync/gate-files.ts': 'is the check',
  'src/sync/has-workflow.ts': NO_CONTENT,
  'src/sync/home-files.ts': HOME,
  'src/sync/ignored-files.ts': NO_CONTENT,
  'src/sync/init/adopt-shared.ts': 'findSharedProjects leaves attempts out',
  'src/sync/init/data-branch.ts': 'refuses branches of attempts, and a config that is held',
  'src/sync/init/steps.ts': 'writes them',
  'src/sync/initialise-project.ts': 'asks findConfirmed before it adopts what the working tree has',
  'src/sync/join-configs.ts': GIVEN,
  'src/sync/join-workflows.ts': GIVEN,
  'src/sync/locate-work.ts': BY_FIND,
  'src/sync/project-config.ts': 'parses a text, and refuses the branch of an attempt as a data branch',
  'src/sync/project-paths.ts': 'says where they are',
  'src/sync/project-registry.ts': `${BY_FIND}; the registry is ${HOME}`,
  'src/sync/run-hook.ts': NO_CONTENT,
  'src/sync/server-settings.ts': HOME,
  'src/sync/shared-config.ts': 'is the part of the check that needs no process',
  'src/sync/staged-task-files.ts': NO_CONTENT,
  'src/sync/sync-tasks.ts': 'findModeChange leaves attempts out',
  'src/sync/task-files.ts': 'says where they are',
  'src/sync/trust.ts': BY_GATES,
  'src/sync/undo-removal.ts': NO_CONTENT,
  'src/sync/unknown-keys.ts': 'says of the file in the checkout which keys nobody reads; it takes no effect',
  'src/sync/unpublished-files.ts': NO_CONTENT,
  'src/sync/work-settings.ts': GIVEN,
  'src/sync/workflow-file.ts': GIVEN,
};
