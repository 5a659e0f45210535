import { dirname } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { STORE_FORMAT } from '#store/store-format.ts';
import { type HomePlace, toRealPlace } from '#sync/forge-home.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';
import { findOlderServer } from '#sync/running-servers.ts';

/**
 * Throws state_invalid where a server of an older Forge works on this database: it would be refused from then on, with
 * all that is at work in it.
 */
export function refuseUpgrade(
  { root, common_dir }: Pick<ProjectPaths, 'root' | 'common_dir'>,
  { home }: HomePlace,
  from: number,
): void {
  const places = [toRealPlace(root), toRealPlace(dirname(common_dir))];
  const server = findOlderServer(home, { places, schema: STORE_FORMAT });
  if (server === undefined) return;
  const { pid, url, version } = server;
  throw new ForgeError(
    'state_invalid',
    `The task database has schema ${from}, and this write would bring it to ${STORE_FORMAT}; but the server of Forge ${version ?? '(unknown version)'} at ${url} (process ${pid}) still uses it`,
    {
      hint: `Stop that server and start it anew with this version; or, in spite of it: forge doctor --fix --force. Reading works meanwhile`,
      details: { pid, url, version, found: from, known: STORE_FORMAT },
    },
  );
}
