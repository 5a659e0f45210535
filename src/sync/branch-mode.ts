import type { GitRepo } from '#git/ask-git.ts';
import { commitFiles } from '#git/commit-files.ts';
import { exchangeBranch, type ExchangeResult } from '#git/exchange-branch.ts';
import { readBlob } from '#git/read-blob.ts';
import { readRef } from '#git/read-ref.ts';
import { systemActor } from '#domain/actor.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { readJson } from '#kernel/read-json.ts';
import type { Writer } from '#store/store.ts';
import type { FileLine, FoldReport, FoldRequest, Replication } from '#store/replication.ts';
import {
  hasNothing,
  mergeBranchUnreadable,
  readBranchUnreadable,
  toBranchKey,
  type BranchSide,
  type BranchUnreadable,
} from './branch-unreadable.ts';
import { commitOnTop } from './commit-on-top.ts';
import type { CommittedTasks } from './commit-tasks.ts';
import { findTakenBack } from './find-taken-back.ts';
import { foldText, type FindByHand } from './fold-files.ts';
import { toTextFold, withoutHeld } from './fold-request.ts';
import { flagSecretsFor, refuseSecrets } from './flag-secrets.ts';
import { findGatePaths, type GatePaths } from './gate-files.ts';
import { findHeldFilesAt } from './held-files.ts';
import { type AttemptLister, findHeldAt, type HeldLines } from './held-lines.ts';
import { noteCommittedBlobs } from './loose-task-blobs.ts';
import { noteFileConflicts, type FileConflict } from './file-conflicts.ts';
import { joinConfigs, keepsOwnConfig, type LostSetting } from './join-configs.ts';
import {
  adoptWorkflow,
  joinWorkflows,
  readWorkflowToCommit,
  type WorkflowExchange,
} from './join-workflows.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectConfig } from './project-config.ts';
import type { HookProject } from './run-hook.ts';
import { digestText, splitText } from './read-file-lines.ts';
import { findSeenIn, type FindSeen } from './seen-in-history.ts';
import { readSharedConfigBytes } from './shared-config.ts';
import { CONFIG_PATH, HISTORY_PATH, TASKS_PATH } from './task-files.ts';
import { tellHeldOnce } from './tell-held.ts';
import { WORKFLOW_PATH } from './workflow-file.ts';

type Tell = (line: string) => void;

/** In branch mode the tasks lie on a branch of their own, which is never checked out. */
export function toDataRef(config: ProjectConfig): string {
  if (config.branchName === undefined) {
    throw new ForgeError('state_invalid', 'This project keeps its tasks on no branch of their own');
  }
  return `refs/heads/${config.branchName}`;
}

export async function commitToBranch(
  project: HookProject,
  { by, machine, message }: { by: Writer; machine: Machine; message: string },
): Promise<CommittedTasks> {
  const repo = toGitRepo(project.paths.root, machine);
  const ref = toDataRef(project.config);
  let written = 0;
  const { commit, changed } = await commitOnTop(async () => {
    const tip = await readRef(repo, ref);
    await foldRevision(project.store, repo, { rev: tip ?? ref, by });
    const gates = await findGatePaths(project, machine);
    const { files, event_seq } = await makeFiles(project.store, gates);
    written = event_seq;
    if (await keepsOwnConfig(gates.config, repo, ref)) files.delete(CONFIG_PATH);
    const workflow = readWorkflowToCommit(gates.workflow);
    if (workflow !== undefined) files.set(WORKFLOW_PATH, Buffer.from(workflow));
    refuseSecrets(await flagSecretsFor(repo, files, { revs: [ref], paths: project.paths, machine }));
    return commitFiles({ repo, files, message, ref, ...(tip !== undefined && { onTop: tip }) });
  });
  await noteWritten(project.store, ['ours'], { event_seq: written, now: by.now });
  return { commit: commit ?? null, changed, branch: project.config.branchName ?? null };
}

/** Fetch, join, commit, push; again when somebody else was faster. */
export async function exchangeTasks(
  project: HookProject,
  options: { by: Writer; machine: Machine; remote: string; message: string; tell?: Tell | undefined },
): Promise<
  ExchangeResult & {
    reports: FoldReport[];
    unreadable: BranchUnreadable;
    workflow: WorkflowExchange;
    config_lost: readonly string[];
  }
> {
  const { machine, remote, message, by, tell } = options;
  const repo = toGitRepo(project.paths.root, machine);
  const gates = await findGatePaths(project, machine);
  const reports: FoldReport[] = [];
  let workflow: WorkflowExchange = { outcome: 'same', other: null };
  let unreadable: BranchUnreadable = { tasks: [], history: [] };
  let written = 0;
  // What an earlier try has joined, a later one finds joined.
  const lost = new Map<string, LostSetting & { readonly theirs: string }>();
  const result = await exchangeBranch({
    repo,
    remote,
    branch: toDataRef(project.config).slice('refs/heads/'.length),
    message,
    async join(theirs, ours) {
      const sides = new Map<string, BranchUnreadable>();
      for (const rev of [theirs, ours]) {
        if (rev === undefined) continue;
        const side = rev === theirs ? 'theirs' : 'ours';
        reports.push(...(await foldRevision(project.store, repo, { rev, by, tell, side })));
        sides.set(rev, await readBranchUnreadable(project.store, side));
      }
      unreadable = await mergeBranchUnreadable(repo, { theirs, ours }, sides);
      const { files, event_seq } = await makeFiles(project.store, gates, unreadable);
      written = event_seq;
      // So that the doctor knows of them, and that they can be told with their lines.
      const before = await readBranchUnreadable(project.store);
      if (![unreadable, before].every(hasNothing))
        reports.push(...(await foldTexts(project.store, toTexts(files), { now: by.now, findSeen: NONE })));
      const held = await findHeldThere(project.store, repo, theirs);
      const config = await joinConfigs(gates.config, repo, {
        theirs: held.has(CONFIG_PATH) ? undefined : theirs,
        ours,
      });
      if (config.text !== undefined) files.set(CONFIG_PATH, config.text);
      for (const one of config.lost) lost.set(one.key, { ...one, theirs: theirs ?? '' });
      const joined = await joinWorkflows(gates.workflow, repo, {
        theirs: held.has(WORKFLOW_PATH) ? undefined : theirs,
        ours,
      });
      if (joined.text !== undefined) files.set(WORKFLOW_PATH, Buffer.from(joined.text));
      refuseSecrets(
        await flagSecretsFor(repo, files, { revs: [theirs, ours], paths: project.paths, machine }),
      );
      // A later try finds in place what an earlier one brought; that is the one to tell of.
      if (joined.outcome !== 'same' || workflow.outcome === 'sent') workflow = joined;
      return files;
    },
  });
  if (result.commit !== undefined)
    await noteWritten(project.store, result.pushed ? ['ours', 'theirs'] : ['ours'], {
      event_seq: written,
      now: by.now,
    });
  await noteCommittedBlobs({ paths: project.paths, repo, machine }, result.commit);
  const { outcome, other } = workflow;
  const at = toIso(machine.clock.now());
  noteFileConflicts(project.paths, [
    ...[...lost.values()].map((one) => toConfigConflict(one, at)),
    ...(outcome === 'conflict' && other !== null ? [await toWorkflowConflict(gates, repo, other, at)] : []),
  ]);
  return { ...result, reports, unreadable, workflow: { outcome, other }, config_lost: [...lost.keys()] };
}

/** Config and workflow of the data branch that an attempt wrote which nobody has merged: this clone's stand. */
async function findHeldThere(
  store: AttemptLister,
  repo: GitRepo,
  rev: string | undefined,
): Promise<ReadonlySet<string>> {
  return rev === undefined ? new Set() : findHeldFilesAt(store, repo, rev, [CONFIG_PATH, WORKFLOW_PATH]);
}

function toConfigConflict(
  { key, lost, stands, theirs }: LostSetting & { readonly theirs: string },
  at: string,
): FileConflict {
  return { id: 'config', name: key, key: `${theirs.slice(0, 12)}:${CONFIG_PATH}`, lost, stands, at };
}

async function toWorkflowConflict(
  { workflow }: GatePaths,
  repo: GitRepo,
  other: string,
  at: string,
): Promise<FileConflict> {
  const rev = other.slice(0, other.indexOf(':'));
  const lost = parseOr((await readBlob(repo, rev, WORKFLOW_PATH))?.toString('utf8'));
  return {
    id: 'workflow',
    name: 'workflow',
    key: other,
    lost,
    stands: parseOr(readWorkflowToCommit(workflow)),
    at,
  };
}

function parseOr(text: string | undefined): unknown {
  try {
    return readJson(text ?? 'null');
  } catch {
    return text;
  }
}

/** The tasks of the data branch as it is here; `absent` where it is not there yet, undefined where it has no task. */
export async function readDataBranch(
  store: HookProject['store'],
  { paths, config }: Pick<HookProject, 'paths' | 'config'>,
  { env, now, tell }: { env: Machine['env']; now: number; tell?: Tell | undefined },
): Promise<FoldReport | 'absent' | undefined> {
  const repo = toGitRepo(paths.root, { env });
  const by = { actor: systemActor('fold'), now };
  const ref = toDataRef(config);
  const there = `refs/remotes/origin/${config.branchName}`;
  // A fresh clone has only the remote's; the next sync makes the one here.
  const rev = (await readRef(repo, ref)) === undefined ? there : ref;
  if (rev === there && (await readRef(repo, there)) === undefined) return 'absent';
  const [report] = await foldRevision(store, repo, { rev, by, tell });
  if (!(await findHeldThere(store, repo, rev)).has(WORKFLOW_PATH))
    await adoptWorkflow((await findGatePaths({ store, paths }, { env })).workflow, repo, rev);
  return report;
}

/** Joins the task files of a commit in, without what an unmerged attempt wrote; the same commit twice says nothing new. */
async function foldRevision(
  store: HookProject['store'],
  repo: GitRepo,
  {
    rev,
    by,
    tell,
    side,
  }: { rev: string; by: Writer; tell?: Tell | undefined; side?: BranchSide | undefined },
): Promise<FoldReport[]> {
  const read = async (path: string): Promise<string | undefined> =>
    (await readBlob(repo, rev, path))?.toString('utf8');
  const findSeen: FindSeen = (values) => findSeenIn(values, { repo, rev });
  const texts = { history: await read(HISTORY_PATH), tasks: await read(TASKS_PATH) };
  const held = await findHeldAt(store, repo, rev);
  const findByHand: FindByHand = (back) => findTakenBack(back, { repo, revs: [rev] });
  return foldTexts(store, texts, { now: by.now, findSeen, findByHand, held, tell, side });
}

/** For texts that this store made itself just now. */
const NONE: FindSeen = () => Promise.resolve(new Set());

/** The same of texts, as the data branch has them. */
export async function foldTexts(
  store: Replication,
  { history, tasks }: { readonly history: string | undefined; readonly tasks: string | undefined },
  {
    now,
    findSeen,
    findByHand = () => Promise.resolve([]),
    held,
    tell,
    side = 'ours',
  }: {
    readonly now: number;
    readonly findSeen: FindSeen;
    /** Left out: none of the lines was changed back. */
    readonly findByHand?: FindByHand | undefined;
    readonly held?: HeldLines | undefined;
    readonly tell?: Tell | undefined;
    readonly side?: BranchSide | undefined;
  },
): Promise<FoldReport[]> {
  const writer = { actor: systemActor('fold'), now };
  const left: { history: FileLine[]; tasks: FileLine[] } = { history: [], tasks: [] };
  const toRequest = (path: string, text: string, lines: FileLine[]): FoldRequest =>
    withoutHeld(
      toTextFold(toBranchKey(path, side), [...splitText(text)], {
        digest: digestText(text),
        now,
      }),
      {
        held,
        path,
        left: lines,
      },
    );
  if (history !== undefined) await store.foldHistory(toRequest(HISTORY_PATH, history, left.history), writer);
  const request = tasks === undefined ? undefined : toRequest(TASKS_PATH, tasks, left.tasks);
  const how = { ...writer, findSeen, findByHand };
  const reports = request === undefined ? [] : [await foldText(store, request, how)];
  const lines = [...left.tasks, ...left.history];
  await tellHeldOnce(store, held && { ...held, lines }, { now, tell });
  return reports;
}

/** Sides of the data branch show from now on what the store held at that event; a commit of them is read all the same. */
export async function noteWritten(
  store: Replication,
  sides: readonly BranchSide[],
  { event_seq, now }: { readonly event_seq: number; readonly now: number },
): Promise<void> {
  const stats = { size: 0, mtime: '0', ctime: '0', inode: '0', digest: '', looked_at: now, event_seq };
  await store.markExported(sides.map((side) => ({ path: toBranchKey(TASKS_PATH, side), ...stats })));
}

function toTexts(files: ReadonlyMap<string, Buffer>): { tasks: string; history: string } {
  const read = (path: string): string => files.get(path)?.toString('utf8') ?? '';
  return { tasks: read(TASKS_PATH), history: read(HISTORY_PATH) };
}

async function makeFiles(
  store: Replication,
  gates: GatePaths,
  unreadable?: BranchUnreadable,
): Promise<{ readonly files: Map<string, Buffer>; readonly event_seq: number }> {
  const { tasks, history, event_seq } = await makeTexts(store, unreadable);
  const files = new Map([
    [TASKS_PATH, tasks],
    [HISTORY_PATH, history],
  ]);
  const config = readSharedConfigBytes(gates.config);
  if (config !== undefined) files.set(CONFIG_PATH, config);
  return { files, event_seq };
}

/**
 * The task files as the data branch shall have them. The lines of it that cannot be read are those of the commit that
 * was joined in last, unless they are given.
 */
export async function makeTexts(
  store: Replication,
  unreadable?: BranchUnreadable,
): Promise<{ tasks: Buffer; history: Buffer; event_seq: number }> {
  const kept = unreadable ?? (await readBranchUnreadable(store));
  const tasks: (string | Uint8Array)[] = [];
  let event_seq = 0;
  for await (const part of store.exportTasks(NO_FILE)) {
    tasks.push(...part.lines);
    ({ event_seq } = part);
  }
  const history: (string | Uint8Array)[] = [];
  for await (const { lines } of store.exportHistory(NO_FILE)) history.push(...lines);
  return {
    tasks: toBytes([...tasks, ...kept.tasks]),
    history: toBytes([...history, ...kept.history]),
    event_seq,
  };
}

/** Of no file there are lines that cannot be read. */
const NO_FILE = '';

function toBytes(lines: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
}
