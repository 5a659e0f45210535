import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type StartRequest, startCheckout } from '#git/attempt-checkout.ts';
import type { Checkout } from '#git/checkout-record.ts';
import { type ControlGit, type ControlOptions, openControlDirectory } from '#git/control-directory.ts';
import { type Harvest, harvestCheckout, type HarvestRequest } from '#git/harvest-checkout.ts';
import { type GitPlace, gitPlace } from './git-places.ts';
import { runTestGit } from './temp-repo.ts';

export const TRAILERS = { 'Forge-Task': 'fg-a3f8', 'Forge-Attempt': '35a403e3' };

export interface AttemptPlace extends AsyncDisposable {
  readonly place: GitPlace;
  readonly control: ControlGit;
  /** The folder of all checkouts. */
  readonly root: string;
  /** Starts an attempt at where the user's HEAD is. */
  readonly start: (options?: Partial<StartRequest>) => Promise<Checkout>;
  readonly harvest: (checkout: Checkout, request?: Partial<HarvestRequest>) => Promise<Harvest>;
}

/** A repository of the user's with its control directory. */
export async function attemptPlace(options: ControlOptions = {}): Promise<AttemptPlace> {
  return openAttempts(await gitPlace(), options);
}

export async function openAttempts(place: GitPlace, options: ControlOptions = {}): Promise<AttemptPlace> {
  const control = await openControlDirectory(place.repo, options);
  const root = join(place.path, '..', `attempts of ${place.path.split('/').at(-1)}`);
  return {
    place,
    control,
    root,
    start: (request = {}) => {
      const attempt_id = request.attempt_id ?? randomUUID();
      const name = request.name ?? `${attempt_id.slice(0, 8)}-test`;
      return startCheckout(control, {
        attempt_id,
        name,
        root,
        path: join(root, name),
        base: place.git('rev-parse', 'HEAD'),
        facts: {
          project: place.path,
          task: 'fg-a3f8',
        },
        ...request,
      });
    },
    harvest: (checkout, request = {}) =>
      harvestCheckout(control, checkout, { message: 'Work of the agent', trailers: TRAILERS, ...request }),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

/** git as the agent runs it, with whatever configuration is there. */
export function gitIn(checkout: Checkout, ...args: string[]): string {
  return runTestGit(checkout.path, args);
}

export function writeIn(checkout: Checkout, file: string, text: string | Uint8Array): void {
  const path = join(checkout.path, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The user's repository has no fault, and holds everything that refs lead to. */
export function checkObjects(place: GitPlace): string {
  return runTestGit(place.path, ['fsck', '--strict', '--no-dangling', '--no-progress']);
}
