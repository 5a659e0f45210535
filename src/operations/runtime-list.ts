import type { listRuntimes as declaration, Runtime } from '#contract/daemon-operations.ts';
import { listDaemons } from '#engine/list-daemons.ts';
import { listRuntimes } from '#engine/list-runtimes.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

export const runtimeList = implement<typeof declaration>({
  run: async ({ place, cwd, clock }) => listRuntimes(listDaemons({ place, cwd, now: clock.now() }), place),
  text: (runtimes, view) =>
    runtimes.length === 0
      ? 'Nothing of this home can run agents now. Needed are a server (forge serve) and an agent (forge agent add)'
      : tableText<Runtime>(
          view,
          [
            { header: 'DAEMON', value: ({ daemon_id }) => daemon_id },
            {
              header: 'EXECUTOR',
              value: ({ executor }) => executor,
              style: (text) => style(view, 'bold', text),
            },
            { header: 'AVAILABLE', value: ({ available }) => (available ? 'yes' : 'no') },
            { header: 'FREE', value: ({ free, places }) => `${free}/${places}`, align: 'right' },
            { header: 'BUSY', value: ({ busy }) => String(busy), align: 'right' },
            { header: 'AGENTS', value: ({ agents }) => agents.join(', '), flexible: true, minimum: 16 },
          ],
          runtimes,
        ),
});
