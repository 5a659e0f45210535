import { setImmediate as nextTurn } from 'node:timers/promises';
import { findSecrets } from '#domain/find-secrets.ts';
import { listNamedSecrets } from '#domain/named-secrets.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { OperationContext } from './operation.ts';

/**
 * What is written is kept; a person at a command line hears at once that it will not be committed. A label and a key of
 * metadata are refused: that one was there stays known after it was taken out, so that no commit would ever go through.
 */
export async function warnOfSecrets(
  { host, stays, project }: OperationContext,
  input: object,
): Promise<void> {
  await refuseSecretNames(input);
  if (stays === true || project.config.initMode === 'stealth') return;
  const named = listNamedSecrets(input).map(({ name }) => name);
  const names = [...new Set([...findSecrets(JSON.stringify(input)), ...named])];
  if (names.length > 0)
    host.notice(`This holds what looks like ${names.join(' and ')}; no commit of the tasks will take it`);
}

const LABELS = ['labels', 'labels_add'];
const METADATA = ['metadata', 'metadata_set'];

/** Names that are looked at before others have their turn: a name full of escapes takes up to 0.1 ms. */
const NAMES_A_TURN = 100;

/** Throws invalid_input with the place. The name itself is not said again. */
export async function refuseSecretNames(input: object): Promise<void> {
  for (const [field, value] of Object.entries(input)) {
    const names = LABELS.includes(field) && Array.isArray(value) ? (value as unknown[]) : [];
    const keys = METADATA.includes(field) && typeof value === 'object' && value !== null ? value : {};
    const what = await findSecretName([...names, ...Object.keys(keys)].map(String));
    if (what === undefined) continue;
    const kind = LABELS.includes(field) ? 'A label' : 'A key of the metadata';
    throw new ForgeError(
      'invalid_input',
      `${field}: ${kind} looks like ${what}: names stay known when they are gone`,
      {
        hint: 'Give it another name; a value that is secret belongs in no task',
        details: { field },
      },
    );
  }
}

async function findSecretName(names: readonly string[]): Promise<string | undefined> {
  // So many are refused for their number.
  if (names.length > LIMITS.metadata_keys) return undefined;
  for (const [at, name] of names.entries()) {
    if (at > 0 && at % NAMES_A_TURN === 0) await nextTurn();
    const [what] = findSecrets(name);
    if (what !== undefined) return what;
  }
  return undefined;
}
