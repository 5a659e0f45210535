import type { Executor } from './executor.ts';
import { UNKNOWN_USAGE } from './protocols/session.ts';

/** Does nothing, at once and well: for trying out workflows, and for work that is done elsewhere. */
export function createNullExecutor(): Executor {
  return {
    async start(spec, host) {
      host.tell({ kind: 'message', role: 'user', text: spec.prompt });
      host.tell({ kind: 'note', text: 'Nothing is run' });
      return {
        send: async () => false,
        unheard: () => [],
        stop: async () => {},
        ended: Promise.resolve({
          outcome: 'completed',
          exit_code: null,
          denials: 0,
          usage: UNKNOWN_USAGE,
          survivors: 0,
        }),
      };
    },
  };
}
