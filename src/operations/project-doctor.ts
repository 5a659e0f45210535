import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { examineProject as declaration } from '#contract/sync-operations.ts';
import { describeContainment } from '#domain/describe-containment.ts';
import { describeWalls } from '#domain/describe-walls.ts';
import { suggestSetup } from '#domain/suggest-setup.ts';
import { isInsideRun } from '#engine/is-inside-run.ts';
import { isForgeError, type ForgeError } from '#kernel/errors.ts';
import { escapeLine, nameFirst } from '#kernel/text.ts';
import { locationOf } from '#store/store-location.ts';
import { listHomeFaults } from '#sync/examine-home.ts';
import { examineProject, type Finding } from '#sync/examine-project.ts';
import { listTokenFaults } from '#sync/access-tokens.ts';
import { findGatePaths } from '#sync/gate-files.ts';
import { readServerSettings } from '#sync/server-settings.ts';
import { listUnknownKeys } from '#sync/unknown-keys.ts';
import { readWorkSettings, type WorkSettings } from '#sync/work-settings.ts';
import { implement, type OperationContext } from './operation.ts';
import { SHORT_ID } from './run-text.ts';
import { writerOf } from './writer.ts';

/** So many are named. */
const SHOWN = 5;

const SIGNS = { ok: 'ok     ', fixed: 'fixed  ', warning: 'warning', failed: 'FAILED ' } as const;

export const projectDoctor = implement<typeof declaration>({
  async run(ctx, input) {
    const failure = findFailure(ctx);
    if (failure !== undefined) return { healthy: false, findings: [await explainFailure(failure)] };
    const findings = await examineProject({
      project: ctx.project,
      machine: ctx.machine,
      by: await writerOf(ctx),
      fix: input.fix === true,
      pr: input.pr,
    });
    const isInside = isInsideRun(ctx.machine.env);
    findings.push(
      await examineSettings(ctx),
      ...(isInside ? [] : examineHome(ctx)),
      ...examineServer(ctx),
      ...examineTokens(ctx),
      isInside ? notLookedAt('guard') : await examineGuard(ctx),
      isInside ? notLookedAt('walls') : await examineWalls(ctx),
      await examineRuns(ctx),
      ...(await examineKept(ctx)),
    );
    return { healthy: findings.every(({ state }) => state !== 'failed'), findings };
  },
  exit: ({ healthy }) => (healthy ? 0 : 1),
  text({ findings, healthy }) {
    const width = Math.max(...findings.map(({ name }) => name.length));
    const lines = findings.map(({ name, state, message, hint }) => {
      const next = hint === null ? '' : `\n  try: ${escapeLine(hint)}`;
      return `${SIGNS[state]}  ${name.padEnd(width)}  ${escapeLine(message)}${next}`;
    });
    return [...lines, healthy ? 'Nothing is broken' : 'Something is broken: see above'].join('\n');
  },
});

/** Why the project could not be opened; everything else needs it. */
function findFailure(ctx: OperationContext): ForgeError | undefined {
  try {
    void ctx.project;
    return undefined;
  } catch (error) {
    if (isForgeError(error)) return error;
    throw error;
  }
}

async function explainFailure({ code, message, hint, details }: ForgeError): Promise<Finding> {
  const name = code === 'store_corrupt' || 'found' in details ? 'database' : 'config';
  // Setting a newer database aside is a step back that a person has to want: the hint says what there is to choose.
  if (code !== 'store_corrupt') return { name, state: 'failed', message, hint: hint ?? null };
  const differs = await listDifferences(details['path']);
  return {
    name,
    state: 'failed',
    message: differs.length === 0 ? message : `not as Forge made it: ${nameFirst(differs)}`,
    hint: 'forge doctor --rebuild',
  };
}

async function listDifferences(database: unknown): Promise<readonly string[]> {
  if (typeof database !== 'string') return [];
  const { examineDatabase } = await import('#store/examine-database.ts');
  try {
    return examineDatabase(locationOf(database)).schema;
  } catch (error) {
    if (isForgeError(error)) return [];
    throw error;
  }
}

/** How work is done: the project's config and the person's own settings. */
async function examineSettings({ project, place, machine }: OperationContext): Promise<Finding> {
  const name = 'settings';
  try {
    const { settings: paths } = await findGatePaths(project, machine);
    const settings = readWorkSettings({ paths }, place.home);
    const unknown = listUnknownKeys(paths, place.home);
    if (unknown.length === 0)
      return (
        findSetupMissing(name, settings, project.paths.root) ?? {
          name,
          state: 'ok',
          message: 'every key is known and every value is allowed',
          hint: null,
        }
      );
    const named = unknown.slice(0, SHOWN).map(({ path, key }) => `${path}: ${key}`);
    const message = `nobody reads ${named.join(', ')}`;
    const meant = unknown.flatMap((one) => one.meant ?? [])[0];
    const hint =
      meant === undefined ? 'A newer Forge may know it; if not, take it out' : `Did you mean ${meant}?`;
    return { name, state: 'warning', message, hint };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { name, state: 'failed', message: error.message, hint: error.hint ?? null };
  }
}

/** Files of the Forge home that no command can read; nothing where every one can be. */
function examineHome({ place }: OperationContext): Finding[] {
  return listHomeFaults(place.home).map(({ message, hint }) => ({
    name: 'home',
    state: 'failed',
    message,
    hint: hint ?? null,
  }));
}

/** What `forge serve` would begin with; nothing where it could. */
function examineServer({ place }: OperationContext): Finding[] {
  try {
    readServerSettings({}, place);
    return [];
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return [{ name: 'server', state: 'failed', message: error.message, hint: error.hint ?? null }];
  }
}

/** Lines by which a server lets nobody in; nothing where every line is a token. */
function examineTokens({ place }: OperationContext): Finding[] {
  const [first, ...more] = listTokenFaults(place.home);
  if (first === undefined) return [];
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return [
    { name: 'tokens', state: 'failed', message: `${first.message}${others}`, hint: first.hint ?? null },
  ];
}

/** Checks run on the commit alone: packages that they need have to be got first. */
function findSetupMissing(
  name: string,
  { review, workspace }: WorkSettings,
  root: string,
): Finding | undefined {
  if (!review.fresh || review.ci_steps.length === 0 || workspace.setup.length > 0) return undefined;
  const setup = suggestSetup((file) => existsSync(join(root, file)));
  if (setup === undefined) return undefined;
  const message = `checks run on the commit alone, and nothing says how to get the packages of ${setup.file}`;
  const hint = `{"workspace": {"setup": ["${setup.command}"]}} in .forge/config.json`;
  return { name, state: 'warning', message, hint };
}

/** Inside of a run another machine is seen than the one on which runs are started. */
function notLookedAt(name: string): Finding {
  return { name, state: 'ok', message: 'not looked at: this is inside of a run', hint: null };
}

/** What ends agents, checks and set-ups on this machine when their watcher is gone, and what it cannot hold. */
async function examineGuard(ctx: OperationContext): Promise<Finding> {
  const name = 'guard';
  try {
    const { place } = await ctx.workshop();
    const { kind, namespace, cgroup_folder } = (await place.processes()).containment;
    const shown = { kind, of_users: namespace?.of_users === true, cgroup: cgroup_folder !== undefined };
    const { message, hint } = describeContainment(shown);
    return { name, state: hint === undefined ? 'ok' : 'warning', message, hint: hint ?? null };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { name, state: 'failed', message: error.message, hint: error.hint ?? null };
  }
}

/** What agents and checks can reach besides their own checkout. */
async function examineWalls(ctx: OperationContext): Promise<Finding> {
  const name = 'walls';
  try {
    const { place } = await ctx.workshop();
    const possible = (await (await place.processes()).bubblewrap()) !== undefined;
    const { agents, checks } = place.settings().walls;
    const off = place.agents.list().filter(({ profile }) => profile.walls === 'off');
    const shown = { possible, agents, checks, off: off.map((agent) => agent.name) };
    const { message, hint } = describeWalls(shown);
    return { name, state: hint === undefined ? 'ok' : 'warning', message, hint: hint ?? null };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { name, state: 'failed', message: error.message, hint: error.hint ?? null };
  }
}

/** What has grown on this machine, a finding each; settings with a fault are one of their own. */
async function examineKept(ctx: OperationContext): Promise<Finding[]> {
  const [{ measureKept }, { keptPlace }, { keptName, keptText }] = await Promise.all([
    import('#engine/measure-kept.ts'),
    import('./kept-place.ts'),
    import('./kept-text.ts'),
  ]);
  try {
    return (await measureKept(await keptPlace(ctx))).map((use) => ({
      name: keptName(use),
      state: use.exceeded === null ? 'ok' : 'warning',
      message: use.exceeded === null ? keptText(use) : `${keptText(use)}: ${use.exceeded}`,
      hint: use.command,
    }));
  } catch (error) {
    if (!isForgeError(error)) throw error;
    if (error.code === 'invalid_input') return [];
    return [{ name: 'on disk', state: 'warning', message: error.message, hint: error.hint ?? null }];
  }
}

/** What was lost has been settled before this was asked; what could not be is still open. */
async function examineRuns(ctx: OperationContext): Promise<Finding> {
  const name = 'runs';
  const open = (await ctx.project.store.listOpenWork()).filter(({ kind }) => kind === 'run');
  const { listUnwatched } = await import('#engine/is-there.ts');
  const lost = await listUnwatched(ctx.project.store, open);
  const [first] = lost;
  if (first === undefined) {
    const message = open.length === 0 ? 'none is at work' : `${open.length} at work, each with a watcher`;
    return { name, state: 'ok', message, hint: null };
  }
  const named = lost.map(
    ({ id, agent, task_id }) => `${id.slice(0, SHORT_ID)} of ${agent ?? '?'} on ${task_id}`,
  );
  const message = `lost their watcher and could not be settled: ${named.slice(0, SHOWN).join(', ')}`;
  return { name, state: 'failed', message, hint: `forge runs stop ${first.id.slice(0, SHORT_ID)}` };
}
