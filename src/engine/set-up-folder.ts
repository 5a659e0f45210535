import { hash } from 'node:crypto';
import type { Attempt, StepResult } from '#contract/attempt.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { findSecretsOf } from './agent-secrets.ts';
import { toAttemptEnvironment } from './attempt-environment.ts';
import { findWalls } from './find-walls.ts';
import { changeFolderNote, readFolderNote } from './folder-note.ts';
import { readInside } from './inside-folder.ts';
import { runSteps } from './run-steps.ts';
import type { WorkPlace } from './work.ts';

/**
 * Runs the project's set-up in the attempt's folder, unless it has run there with the same commands and the same
 * contents of the files that `workspace.cache_key` names. Gives the step that failed.
 */
export async function refreshSetup(
  place: WorkPlace,
  attempt: Attempt,
  more: StepMarks = {},
): Promise<StepResult | undefined> {
  const { setup } = place.settings().workspace;
  if (setup.length === 0 || readFolderNote(place, attempt.id).setup === toSetupKey(place, attempt))
    return undefined;
  changeFolderNote(place, attempt.id, { setup: null });
  const failed = (await runIn(place, attempt, setup, more)).find(({ outcome }) => outcome !== 'passed');
  // A set-up may write one of the files itself: it was for what it left.
  if (failed === undefined) changeFolderNote(place, attempt.id, { setup: toSetupKey(place, attempt) });
  return failed;
}

/** The same for whoever cannot go on without it. Throws state_invalid, and untrusted. */
export async function setUpFolder(place: WorkPlace, attempt: Attempt, caches?: string): Promise<void> {
  const failed = await refreshSetup(place, attempt, { signal: place.signal, caches });
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

/** Before checks in the attempt's own folder. */
export async function setUpForChecks(place: WorkPlace, attempt: Attempt): Promise<StepResult | undefined> {
  return toldAsStep(place, () => refreshSetup(place, attempt, toCheckMarks(place, attempt)));
}

/** In a folder that was just made, for checks. */
export async function setUpAnew(
  place: WorkPlace,
  attempt: Attempt,
  caches: string,
): Promise<StepResult | undefined> {
  const { setup } = place.settings().workspace;
  if (setup.length === 0) return undefined;
  return toldAsStep(place, async () =>
    (await runIn(place, attempt, setup, { ...toCheckMarks(place, attempt), caches })).find(
      ({ outcome }) => outcome !== 'passed',
    ),
  );
}

function toCheckMarks({ signal }: WorkPlace, { id }: Attempt): StepMarks {
  return { marker: `${id}-check`, signal };
}

/** What keeps the set-up from running is told as the step that failed. */
async function toldAsStep(
  place: WorkPlace,
  setUp: () => Promise<StepResult | undefined>,
): Promise<StepResult | undefined> {
  try {
    return await setUp();
  } catch (error) {
    if (!isForgeError(error)) throw error;
    const command = place.settings().workspace.setup[0] ?? '';
    return { command, exit_code: null, duration_ms: 0, output: error.message, outcome: 'start_failed' };
  }
}

interface StepMarks {
  readonly marker?: string;
  readonly signal?: AbortSignal;
  /** Whose caches it has inside of walls. */
  readonly caches?: string | undefined;
}

/** Commands of the project's own configuration, in the attempt's folder. */
export async function runIn(
  place: WorkPlace,
  attempt: Attempt,
  commands: readonly string[],
  { marker = attempt.id, signal, caches }: StepMarks = {},
): Promise<StepResult[]> {
  await place.trust.require(commands, attempt.path);
  const { review } = place.settings();
  const env = toAttemptEnvironment(place, attempt);
  return runSteps(commands, {
    cwd: attempt.path,
    env,
    walls: await findWalls(place, { cwd: attempt.path, env, caches }),
    host: await place.processes(),
    marker,
    signal,
    timeout_ms: review.step_timeout_s * 1000,
    output_bytes: review.step_output_bytes,
    secrets: await findSecretsOf(place, attempt),
  });
}

function toSetupKey({ settings }: WorkPlace, { path }: Attempt): string {
  const { setup, cache_key } = settings().workspace;
  const files = cache_key.map((name) => {
    const bytes = readInside(path, name);
    return [name, bytes === undefined ? null : hash('sha256', bytes)];
  });
  return hash('sha256', JSON.stringify([setup, files]));
}
