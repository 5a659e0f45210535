import { copyFileSync, existsSync, globSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Attempt, StepResult } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { listAttemptNames } from '#domain/attempt-names.ts';
import { recreateCheckout, startCheckout } from '#git/attempt-checkout.ts';
import { findDefaultBranch } from '#git/branches.ts';
import { findRecord, isRegistered, type Checkout } from '#git/checkout-record.ts';
import { openControlDirectory, type ControlGit } from '#git/control-directory.ts';
import { readRef } from '#git/read-ref.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { toChildEnvironment } from '#process/child-environment.ts';
import { findPortBlock } from '#process/lease-ports.ts';
import { runSteps } from './run-steps.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** An attempt and the folder it works in. */
export interface Workspace {
  readonly attempt: Attempt;
  readonly checkout: Checkout;
}

export function openControl(place: WorkPlace): Promise<ControlGit> {
  const { workspace } = place.settings();
  return openControlDirectory(place.repo, { copied: workspace.copy, project: place.project.root });
}

/** The task's unfinished attempt, its folder made again where it is gone; undefined where it has none. */
export async function findWorkspace(
  place: WorkPlace,
  control: ControlGit,
  taskId: string,
): Promise<Workspace | undefined> {
  const attempt = (await place.store.listAttempts({ task_id: taskId, state: 'active' })).at(-1);
  if (attempt === undefined) return undefined;
  const checkout = toCheckout(place, control, attempt);
  if (!isRegistered(control, checkout)) await recreateCheckout(control, checkout);
  return { attempt, checkout };
}

/** The task's unfinished attempt, or a new one at the tip of the target branch. */
export async function openWorkspace(
  place: WorkPlace,
  { task, agent }: { readonly task: Task; readonly agent: string | null },
): Promise<Workspace> {
  const control = await openControl(place);
  const known = await findWorkspace(place, control, task.id);
  if (known === undefined) return startWorkspace(place, control, { task, agent });
  const change = { id: known.attempt.id, agent, cleanup_at: null };
  return { ...known, attempt: await place.store.changeAttempt(change, systemWriter(place)) };
}

export async function startWorkspace(
  place: WorkPlace,
  control: ControlGit,
  { task, agent }: { readonly task: Task; readonly agent: string | null },
): Promise<Workspace> {
  const target = await findTarget(place);
  const started = await startAttempt(place, { task, agent, ...target });
  try {
    const { workspace } = place.settings();
    const checkout = await startCheckout(control, {
      ...toCheckout(place, control, started),
      sparse: workspace.sparse,
      submodules: workspace.submodules ? 'top' : 'none',
    });
    copyFiles(place, checkout);
    await runSetup(place, started);
    place.watch({ kind: 'attempt', attempt: started });
    return { attempt: started, checkout };
  } catch (error) {
    const removed_at = new Date(place.clock.now()).toISOString();
    await place.store.changeAttempt({ id: started.id, state: 'archived', removed_at }, systemWriter(place));
    throw error;
  }
}

/** What everything that is started in the attempt's folder may know. */
export function toAttemptEnvironment(
  place: Pick<WorkPlace, 'env' | 'settings'>,
  attempt: Attempt,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { ports } = place.settings().workspace;
  const block =
    attempt.port === null
      ? []
      : Array.from({ length: ports }, (_, i) => [
          i === 0 ? 'PORT' : `PORT_${i}`,
          String((attempt.port ?? 0) + i),
        ]);
  return toChildEnvironment(place.env, {
    FORGE_TASK_ID: attempt.task_id,
    FORGE_ATTEMPT_ID: attempt.id,
    FORGE_WORKTREE: attempt.path,
    COMPOSE_PROJECT_NAME: `forge-${attempt.name}`,
    ...Object.fromEntries(block),
    ...more,
  });
}

export function toCheckout(place: WorkPlace, control: ControlGit, attempt: Attempt): Checkout {
  return (
    findRecord(control, attempt.id) ?? {
      attempt_id: attempt.id,
      name: attempt.name,
      root: place.root,
      path: attempt.path,
      base: attempt.base_commit,
      facts: { project: place.project.root, task: attempt.task_id, attempt: attempt.id },
      sparse: false,
      submodules: 'none',
    }
  );
}

/** Throws state_invalid where there is nothing to begin with. */
export async function findTarget(place: WorkPlace): Promise<{ target: string; base: string }> {
  const target = place.settings().merge.target ?? (await findDefaultBranch(place.repo));
  const base = target === undefined ? undefined : await readRef(place.repo, `refs/heads/${target}`);
  if (target !== undefined && base !== undefined) return { target, base };
  throw new ForgeError(
    'state_invalid',
    target === undefined
      ? 'The repository has no branch to begin with'
      : `There is no commit on the branch ${target} to begin with`,
    { hint: 'Make a first commit, or set merge.target in .forge/config.json', details: { target } },
  );
}

/** The first name that nobody has, and ports that nobody has. */
async function startAttempt(
  place: WorkPlace,
  { task, agent, target, base }: { task: Task; agent: string | null; target: string; base: string },
): Promise<Attempt> {
  const id = crypto.randomUUID();
  const names = listAttemptNames(id, task.title);
  for (let at = 0; at < names.length;) {
    const name = names[at] ?? id;
    const port = await findPort(place);
    const path = join(place.root, name);
    try {
      return await place.store.startAttempt(
        { id, task_id: task.id, name, path, target, base_commit: base, agent, port },
        systemWriter(place),
      );
    } catch (error) {
      if (!isForgeError(error) || error.code !== 'already_exists') throw error;
      // Whoever took the same ports a moment ago has written them down by now.
      if (error.details.port === undefined) at += 1;
    }
  }
  throw new ForgeError('already_exists', `Every name for an attempt of ${task.id} is taken`);
}

async function findPort(place: WorkPlace): Promise<number | null> {
  const { ports: size } = place.settings().workspace;
  if (size === 0) return null;
  const there = await place.store.listAttempts({ there: true });
  const taken = there.flatMap(({ port }) => (port === null ? [] : [{ first: port, size }]));
  return (await findPortBlock({ size, taken })).first;
}

/** Files that git does not carry and the work needs (`.env`); never through a link, never over what is there. */
function copyFiles(place: WorkPlace, checkout: Checkout): void {
  const from = realpathSync(place.project.root);
  for (const pattern of place.settings().workspace.copy) {
    for (const found of globSync(pattern, { cwd: from })) {
      const source = resolve(from, found);
      const inside = relative(from, source);
      if (inside.startsWith('..') || inside.split(sep)[0] === '.git' || !lstatSync(source).isFile()) continue;
      if (realpathSync(source) !== source) continue;
      const target = join(checkout.path, inside);
      if (existsSync(target)) continue;
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(source, target);
    }
  }
}

async function runSetup(place: WorkPlace, attempt: Attempt): Promise<void> {
  const { setup } = place.settings().workspace;
  if (setup.length === 0) return;
  const failed = (await runIn(place, attempt, setup)).find(({ outcome }) => outcome !== 'passed');
  if (failed === undefined) return;
  throw new ForgeError(
    'state_invalid',
    `The set-up \`${failed.command}\` failed: ${failed.output.slice(-500)}`,
    {
      hint: 'Correct workspace.setup in .forge/config.json',
      details: { command: failed.command, exit_code: failed.exit_code },
    },
  );
}

/** Commands of the project's own configuration, in the attempt's folder. */
export async function runIn(
  place: WorkPlace,
  attempt: Attempt,
  commands: readonly string[],
): Promise<StepResult[]> {
  place.requireTrust(commands);
  const { review } = place.settings();
  return runSteps(commands, {
    cwd: attempt.path,
    env: toAttemptEnvironment(place, attempt),
    host: await place.processes(),
    marker: attempt.id,
    timeout_ms: review.step_timeout_s * 1000,
    output_bytes: review.step_output_bytes,
  });
}
