import { findSecrets } from '#domain/find-secrets.ts';
import { listNamedSecrets } from '#domain/named-secrets.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { OperationContext } from './operation.ts';

/**
 * What is written is kept; a person at a command line hears at once that it will not be committed. A label and a key of
 * metadata are refused: that one was there stays known after it was taken out, so that no commit would ever go through.
 */
export function warnOfSecrets({ host, stays, project }: OperationContext, input: object): void {
  refuseSecretNames(input);
  if (stays === true || project.config.initMode === 'stealth') return;
  const named = listNamedSecrets(input).map(({ name }) => name);
  const names = [...new Set([...findSecrets(JSON.stringify(input)), ...named])];
  if (names.length > 0)
    host.notice(`This holds what looks like ${names.join(' and ')}; no commit of the tasks will take it`);
}

const LABELS = ['labels', 'labels_add'];
const METADATA = ['metadata', 'metadata_set'];

/** Throws invalid_input with the place. The name itself is not said again. */
export function refuseSecretNames(input: object): void {
  for (const [field, value] of Object.entries(input)) {
    const names = LABELS.includes(field) && Array.isArray(value) ? (value as unknown[]) : [];
    const keys = METADATA.includes(field) && typeof value === 'object' && value !== null ? value : {};
    const what = [...names, ...Object.keys(keys)].flatMap((name) => findSecrets(String(name))).at(0);
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
