import type { Daemon, listDaemons as declaration } from '#contract/daemon-operations.ts';
import { listDaemons } from '#engine/list-daemons.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

export const daemonList = implement<typeof declaration>({
  run: async ({ place, cwd, clock }) =>
    listDaemons({ place, cwd, now: clock.now() }).map(({ daemon }) => daemon),
  text: (daemons, view) =>
    daemons.length === 0
      ? 'No server of this home runs, and no command has an agent at work. Start one: forge serve'
      : tableText<Daemon>(
          view,
          [
            { header: 'DAEMON', value: ({ id }) => id, style: (text) => style(view, 'bold', text) },
            { header: 'KIND', value: ({ kind }) => kind },
            {
              header: 'STATE',
              value: ({ state }) => state,
              style: (text, { state }) => (state === 'gone' ? style(view, 'red', text) : text),
            },
            { header: 'VERSION', value: ({ version }) => version ?? '-' },
            { header: 'RUNS', value: ({ runs }) => String(runs), align: 'right' },
            { header: 'SINCE', value: ({ started_at }) => started_at ?? '-' },
            { header: 'URL', value: ({ url }) => url ?? '-' },
            {
              header: 'PROJECTS',
              value: ({ projects }) => projects.join(', '),
              flexible: true,
              minimum: 16,
            },
          ],
          daemons,
        ),
});
