import { ForgeError } from '#kernel/errors.ts';
import type { Host } from '#operations/operation.ts';

/** A server has no terminal and no checkout of whoever asks: what would need one is refused, notices go to its log. */
export function createServerHost(notice: (line: string) => void): Host {
  const refuse = async (): Promise<never> => {
    throw new ForgeError('not_available', 'A server cannot do this for somebody else', {
      hint: 'Run the command in the repository itself',
    });
  };
  return {
    initProject: refuse,
    installHooks: refuse,
    uninstallHooks: refuse,
    readHookStatus: refuse,
    run: refuse,
    serve: refuse,
    serveMcp: refuse,
    confirm: async () => 'nobody',
    makeTemporaryFolder: refuse,
    removeFolder: refuse,
    writeFile: refuse,
    interactive: false,
    progress: () => undefined,
    notice,
    meter: () => undefined,
  };
}
