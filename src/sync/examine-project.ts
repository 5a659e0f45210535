import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { toHealingLock } from '#store/store-location.ts';
import { predictMerge } from '#git/predict-merge.ts';
import { isGitTooOld, readGitVersion } from '#git/read-git-version.ts';
import { GIT_FLOOR } from '#git/run-git.ts';
import { isForgeError } from '#kernel/errors.ts';
import { countNoun, countTasks, nameFirst } from '#kernel/text.ts';
import { isLockAbandoned, removeAbandonedLock } from '#process/hold-file-lock.ts';
import type { Writer } from '#store/store.ts';
import type { StoreCare, StoreDiagnosis } from '#store/store-care.ts';
import { examineGitFiles } from './examine-git-files.ts';
import { examineLandings } from './examine-landings.ts';
import { examineForeignHooks, examinePushes } from './examine-git-rules.ts';
import { examineTaskFiles } from './examine-task-files.ts';
import { listWholeFiles } from './keep-whole-file.ts';
import { installHooks, readHookStatus } from './hook-blocks.ts';
import { adviseOnRemote, REMOTE_HINT } from './init/connect-git.ts';
import { listWrongModes, mendModes, type WrongMode } from './kept-modes.ts';
import { refreshDatabaseLink } from './link-database.ts';
import { findForgeHome } from './forge-home.ts';
import { describeWideModes } from './home-modes.ts';
import { toGitRepo, type Machine } from './machine.ts';
import { isMergeDriverRegistered, registerMergeDriver } from './merge-driver-config.ts';
import type { HookProject } from './run-hook.ts';
import { HISTORY_PATH, TASKS_PATH } from './task-files.ts';
import { findGatePaths } from './gate-files.ts';
import {
  findCopyFault,
  hasWorkflowFile,
  mendCopy,
  readWorkflow,
  type WorkflowPaths,
} from './workflow-file.ts';

export interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'fixed' | 'warning' | 'failed';
  readonly message: string;
  /** The command that helps. */
  readonly hint: string | null;
}

interface Examination {
  readonly project: HookProject & { readonly store: StoreCare };
  readonly machine: Machine;
  readonly fix: boolean;
  readonly by: Writer;
}

/**
 * Everything that can be wrong with a project on this machine, one finding a subject. With `fix` what can be mended
 * without losing anything is mended; tasks and edges are never touched.
 */
export async function examineProject(
  examination: Examination & { readonly pr: string | undefined },
): Promise<Finding[]> {
  const { project, pr } = examination;
  const findings = [await guarded('git', () => examineGit(examination)), examineSqlite()];
  if (project.config.initMode === 'standard') {
    findings.push(
      await guarded('merge driver', () => examineDriver(examination)),
      await guarded('hooks', () => examineHooks(examination)),
      await guarded('git files', () => examineGitFiles(examination.project.paths, examination)),
      await guarded('working tree', () => examineTaskFiles({ ...examination, paths: project.paths })),
    );
    if ((await adviseOnRemote(project.paths, examination.machine)).length > 0)
      findings.push(examineSharing(examination));
  }
  findings.push(
    await guarded('mcp entries', () => examineEntries(examination)),
    ...(await examineForeignHooks(project.paths, examination.machine)),
    ...(await examinePushes(project.paths, examination.machine)),
  );
  const { workflow } = await findGatePaths(project, examination.machine);
  const fault = findCopyFault(workflow);
  if (fault !== undefined)
    findings.push(
      await guarded('workflow copy', () => examineWorkflowCopy(examination, { paths: workflow, fault })),
    );
  if (hasWorkflowFile(workflow)) findings.push(await guarded('workflow', () => examineWorkflow(workflow)));
  findings.push(
    ...(await examineLandings(project.paths, examination.machine)),
    ...(await examineStore(examination)),
    examineLeftovers(examination),
    examineModes(examination),
  );
  if (pr !== undefined) findings.push(await examinePullRequest(examination, pr));
  return findings;
}

/** What cannot even be looked at is a finding like any other: the rest is still worth telling. */
async function guarded(name: string, examine: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await examine();
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { name, state: 'failed', message: error.message, hint: error.hint ?? null };
  }
}

/** Only where it is wrong: the copy serves branches and worktrees that have no workflow of their own. */
function examineWorkflowCopy(
  { fix }: Examination,
  { paths, fault }: { readonly paths: WorkflowPaths; readonly fault: string },
): Finding {
  if (!fix) return fail('workflow copy', fault, 'forge doctor --fix');
  const aside = mendCopy(paths);
  return fixed(
    'workflow copy',
    aside === undefined
      ? 'written again from .forge/workflow.json'
      : `set aside as ${aside}; the built-in workflow counts where there is no other`,
  );
}

function examineWorkflow(paths: WorkflowPaths): Finding {
  const { states } = readWorkflow(paths);
  return { name: 'workflow', state: 'ok', message: countNoun(states.size, 'state'), hint: null };
}

async function examineGit({ project, machine }: Examination): Promise<Finding> {
  const version = await readGitVersion(project.paths.root, machine.env);
  if (!isGitTooOld(version)) return ok('git', `git ${version}`);
  const needed = `${GIT_FLOOR.major}.${GIT_FLOOR.minor}`;
  return fail('git', `git ${version} is too old for Forge`, `Install git ${needed} or newer`);
}

function examineSqlite(): Finding {
  return ok('sqlite', `SQLite ${process.versions.sqlite ?? '?'}, Node ${process.versions.node}`);
}

async function examineDriver({ project, machine, fix }: Examination): Promise<Finding> {
  const { paths } = project;
  const { program, env } = machine;
  if (isMergeDriverRegistered(paths, program)) return ok('merge driver', 'registered in this clone');
  if (!fix)
    return fail('merge driver', 'not registered: merges of task files can conflict', 'forge doctor --fix');
  await registerMergeDriver({ paths, program, env });
  return fixed('merge driver', 'registered in this clone');
}

async function examineHooks({ project, machine, fix }: Examination): Promise<Finding> {
  const options = { paths: project.paths, program: machine.program, env: machine.env };
  const mended = fix && (await installHooks(options)).some(({ changed }) => changed);
  const hooks = await readHookStatus(options);
  const wrong = hooks.filter(({ state }) => state !== 'installed');
  if (wrong.length === 0) {
    const where = `git runs them from ${dirOf(hooks[0]?.file ?? '')}`;
    return mended ? fixed('hooks', `installed; ${where}`) : ok('hooks', where);
  }
  const named = wrong.map(({ hook, state }) => `${hook} (${state})`).join(', ');
  const [first] = wrong;
  return warn('hooks', `not reached by git: ${named}`, first?.advice ?? 'forge hooks install');
}

async function examineEntries({ project, machine, fix }: Examination): Promise<Finding> {
  const name = 'mcp entries';
  const { healMcpEntries, listDeadEntries } = await import('./heal-mcp.ts');
  const { root } = project.paths;
  const dead = listDeadEntries(root, machine);
  if (fix && dead.length > 0) await healMcpEntries(root, machine, () => undefined);
  const [first, ...more] = fix ? listDeadEntries(root, machine) : dead;
  if (first === undefined)
    return dead.length === 0
      ? ok(name, 'none names a Forge that is gone')
      : fixed(name, `they name this Forge: ${nameFirst(dead.map(({ path }) => path))}`);
  const files = nameFirst([first, ...more].map(({ path }) => path));
  return warn(
    name,
    `name a Forge that is not here: ${files}`,
    `forge mcp install --client ${first.client} --scope ${first.scope}`,
  );
}

function examineSharing({ project }: Examination): Finding {
  if (project.config.sync.exportOn !== 'every-branch') {
    return ok('sharing', `tasks are written on commits by the rule ${project.config.sync.exportOn}`);
  }
  return ok('sharing', REMOTE_HINT);
}

function judgeGraph({ cycles, parent_cycles }: StoreDiagnosis): Finding[] {
  const [parent] = parent_cycles[0] ?? [];
  const waits = warn('graph', `cycles: ${nameCycles(cycles)}`, 'forge dep remove <from> <to>');
  const message = `cycles of parents: ${nameCycles(parent_cycles)}`;
  const parents = warn('graph', message, `forge task update ${parent ?? '<id>'} --parent none`);
  const found = [...(cycles.length > 0 ? [waits] : []), ...(parent_cycles.length > 0 ? [parents] : [])];
  return found.length > 0 ? found : [ok('graph', 'no task waits for itself')];
}

function nameCycles(cycles: StoreDiagnosis['cycles']): string {
  return cycles.map((cycle) => [...cycle, cycle[0]].join(' -> ')).join('; ');
}

async function examineStore({ project, machine, fix, by }: Examination): Promise<Finding[]> {
  const diagnosis = await project.store.diagnose(machine.clock.now());
  const repairable = diagnosis.miscounted > 0 || !diagnosis.replica_complete;
  if (fix && repairable) await project.store.repair(by);
  if (fix) refreshDatabaseLink(project.paths);
  return [
    ...judgeDatabase(diagnosis, fix),
    ...judgePlace(diagnosis),
    diagnosis.from_the_future.length === 0
      ? ok('clock', 'no task was changed later than now')
      : warn(
          'clock',
          `changed in the future: ${diagnosis.from_the_future.join(', ')}`,
          'Check the clocks of the machines that wrote them',
        ),
    ...judgeGraph(diagnosis),
    diagnosis.missing.length === 0
      ? ok('references', 'every task that is named is here')
      : warn(
          'references',
          `not here: ${diagnosis.missing.join(', ')}`,
          'forge sync, or forge dep remove <from> <to>',
        ),
    diagnosis.unreadable === 0
      ? ok('task files', 'every line can be read')
      : warn(
          'task files',
          `${countNoun(diagnosis.unreadable, 'line')} cannot be read; what stands there is kept`,
          `Correct them in ${TASKS_PATH}`,
        ),
    diagnosis.conflicts === 0
      ? ok('conflicts', 'no value lost a merge')
      : warn('conflicts', `values of ${countTasks(diagnosis.conflicts)} lost a merge`, 'forge conflicts'),
  ];
}

function judgeDatabase(diagnosis: StoreDiagnosis, fix: boolean): Finding[] {
  const { schema, missing, unreadable, changed } = diagnosis.wrong;
  if (schema.length > 0) return [fail('database', `not as Forge made it: ${nameFirst(schema)}`, REBUILD)];
  const rows = [
    ...(missing.length === 0 ? [] : [`in the local replica, but not in the database: ${nameFirst(missing)}`]),
    ...(unreadable.length === 0 ? [] : [`rows that cannot be read: ${nameFirst(unreadable)}`]),
  ];
  if (rows.length > 0) return [fail('database', rows.join('; '), REBUILD)];
  const findings = judgeFile(diagnosis, fix);
  // What is wrong with the file or the replica explains it.
  if (changed.length === 0 || findings.some(({ state }) => state !== 'ok')) return findings;
  const message = `changed by SQL, so that only the database knows: ${nameFirst(changed)}`;
  return [...findings, warn('rows', message, 'To take them into the replica: forge doctor --rebuild')];
}

const REBUILD = 'forge doctor --rebuild';

/** A database that was made elsewhere and brought here. */
function judgePlace({ unsafe_log }: StoreDiagnosis): Finding[] {
  if (unsafe_log === null) return [];
  const message = `the database has a log (WAL) and lies on ${unsafe_log}, where several processes can damage it`;
  return [
    warn('file system', message, `Stop every forge, then ${REBUILD}: the new one gets a rollback journal`),
  ];
}

function judgeFile(diagnosis: StoreDiagnosis, fix: boolean): Finding[] {
  const wrong = [
    ...diagnosis.integrity,
    ...(diagnosis.broken_references === 0
      ? []
      : [countNoun(diagnosis.broken_references, 'broken reference')]),
  ];
  const repairable = [
    ...(diagnosis.miscounted === 0
      ? []
      : [`${countTasks(diagnosis.miscounted)} with a wrong number of blockers`]),
    ...(diagnosis.replica_complete ? [] : ['the local replica is not complete']),
  ];
  if (wrong.length > 0) {
    return [fail('database', wrong.join('; '), REBUILD)];
  }
  if (repairable.length === 0) {
    const { schema: number, newest_schema, tasks } = diagnosis;
    const older =
      number < newest_schema ? `, schema ${number}: the next write brings it to ${newest_schema}` : '';
    return [ok('database', `sound, ${countTasks(tasks)}${older}`)];
  }
  return fix
    ? [fixed('database', `mended: ${repairable.join('; ')}`)]
    : [fail('database', repairable.join('; '), 'forge doctor --fix')];
}

/** Locks of processes that are gone, and databases that were set aside. */
function examineLeftovers({ project, fix }: Examination): Finding {
  const { common_dir, store_dir, store } = project.paths;
  const locks = [join(common_dir, 'forge-init.lock'), toHealingLock(store)].filter((path) =>
    isLockAbandoned(path),
  );
  const names = readdirSync(store_dir).filter(
    (name) => /\.(damaged|replaced)-/.test(name) && !/-(wal|shm)$/.test(name),
  );
  if (fix) for (const lock of locks) removeAbandonedLock(lock);
  if (locks.length > 0) {
    const message = `left by a process that is gone: ${locks.join(', ')}`;
    return fix ? fixed('leftovers', message) : warn('leftovers', message, 'forge doctor --fix');
  }
  if (names.length === 0) return examineWholeFiles(store_dir);
  const unread = names.filter((name) => /-unread(-\d+)?$/.test(name));
  if (unread.length > 0) {
    const message = `databases that were set aside: ${names.join(', ')}; what could not be read of tasks is only in ${unread.join(', ')}`;
    const first = join(store_dir, unread[0] ?? '');
    return warn('leftovers', message, `Keep them; look with sqlite3 ${first} "SELECT * FROM tasks"`);
  }
  return warn(
    'leftovers',
    `databases that were set aside: ${names.join(', ')}`,
    `Delete them in ${store_dir} when you need them no more`,
  );
}

function examineWholeFiles(store_dir: string): Finding {
  const copies = listWholeFiles(store_dir);
  if (copies.length === 0) return ok('leftovers', 'none');
  return warn(
    'leftovers',
    `copies of task files with more unreadable lines than are written back: ${copies.join(', ')}`,
    `Take from them what you need, then delete them in ${store_dir}`,
  );
}

function examineModes({ project, machine, fix }: Examination): Finding {
  const wrong = listWrongModes(project.paths);
  if (wrong.length === 0) return examineHomeModes(machine);
  const left = fix ? mendModes(wrong) : wrong;
  if (left.length === 0) return fixed('permissions', `corrected: ${nameFiles(wrong)}`);
  const open = left.filter(({ why }) => why === 'open');
  return warn(
    'permissions',
    open.length > 0
      ? `others can read ${nameFiles(open)} in ${project.paths.store_dir}`
      : `those who share the repository cannot use ${nameFiles(left)} in ${project.paths.store_dir}`,
    fix ? 'forge doctor --fix, by whom they belong to' : 'forge doctor --fix',
  );
}

/** The same that a server tells when it starts. Nothing is mended: a token that others could read is made anew. */
function examineHomeModes({ env, homeDir }: Machine): Finding {
  const wide = describeWideModes(findForgeHome(env, homeDir), []);
  const [first] = wide;
  if (first === undefined) return ok('permissions', 'tasks, logs and tokens are for nobody else');
  return warn('permissions', wide.map(({ what }) => what).join('; '), first.hint);
}

function nameFiles(files: readonly WrongMode[]): string {
  return nameFirst(files.map(({ name }) => name));
}

async function examinePullRequest({ project, machine }: Examination, base: string): Promise<Finding> {
  const repo = toGitRepo(project.paths.root, machine);
  const { outcome, conflicts, reason } = await predictMerge(repo, base, 'HEAD', [TASKS_PATH, HISTORY_PATH]);
  if (outcome === 'unknown')
    return warn('pull request', reason ?? 'cannot be told', `git fetch, then forge doctor --pr ${base}`);
  if (outcome === 'clean') return ok('pull request', `a server would merge the task files into ${base}`);
  return warn(
    'pull request',
    `a server would find a conflict in ${conflicts.join(' and ')}`,
    `git merge ${base}`,
  );
}

function dirOf(file: string): string {
  return file.slice(0, Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')));
}

function ok(name: string, message: string): Finding {
  return { name, state: 'ok', message, hint: null };
}

function fixed(name: string, message: string): Finding {
  return { name, state: 'fixed', message, hint: null };
}

function warn(name: string, message: string, hint: string): Finding {
  return { name, state: 'warning', message, hint };
}

function fail(name: string, message: string, hint: string): Finding {
  return { name, state: 'failed', message, hint };
}
