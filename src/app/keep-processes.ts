import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_WALLS } from '#domain/describe-walls.ts';
import { ForgeError } from '#kernel/errors.ts';
import {
  CONTAINMENT_KINDS,
  killLive,
  openProcessHost,
  type ContainmentKind,
  type ProcessHost,
} from '#process/process-host.ts';

/** What holds the programs that this process starts; one for all its projects. */
export interface ProcessKeeper {
  /** Finds out what the machine allows when it is first asked. */
  open(): Promise<ProcessHost>;
  /** The same for an agent, and says where it is weak: once in a process, and once in a home where it has no walls. */
  openForAgent(home: string): Promise<ProcessHost>;
  /** Kills everything that is at work, at once: for a process that is about to leave. */
  killNow(): void;
}

export function keepProcesses({
  env,
  notice,
}: {
  readonly env: NodeJS.ProcessEnv;
  readonly notice: (line: string) => void;
}): ProcessKeeper {
  let opening: Promise<ProcessHost> | undefined;
  let host: ProcessHost | undefined;
  let isTold = false;
  const open = (): Promise<ProcessHost> =>
    (opening ??= openProcessHost({ accept: readAccepted(env) }).then((opened) => (host = opened)));
  return {
    open,
    async openForAgent(home) {
      const opened = await open();
      if (isTold) return opened;
      isTold = true;
      if (opened.containment.kind === 'marker') notice(WEAK);
      if ((await opened.bubblewrap()) === undefined && isFirst(home)) notice(UNWALLED);
      return opened;
    },
    killNow: () => {
      if (host !== undefined) killLive(host);
    },
  };
}

const WEAK =
  'Programs that hide well can outlive their run on this machine: `forge doctor` says why, and what would hold them';

const UNWALLED = `There are no walls around agents on this machine: ${NO_WALLS}. bubblewrap gives them; \`forge doctor\` says more`;

/** Once for each person: what is known is not said with every run. */
function isFirst(home: string): boolean {
  try {
    mkdirSync(join(home, 'told'), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'told/no-walls'), '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** For machines on which the strongest way does harm to what agents do: `FORGE_CONTAINMENT=cgroup,marker`. */
function readAccepted(env: NodeJS.ProcessEnv): readonly ContainmentKind[] | undefined {
  const text = env['FORGE_CONTAINMENT'];
  if (text === undefined || text === '') return undefined;
  return text.split(',').map((word) => {
    const kind = CONTAINMENT_KINDS.find((one) => one === word.trim());
    if (kind !== undefined) return kind;
    throw new ForgeError(
      'invalid_input',
      `FORGE_CONTAINMENT has ${JSON.stringify(word.slice(0, 50))}; it may name ${CONTAINMENT_KINDS.join(', ')}`,
      { hint: 'forge doctor' },
    );
  });
}
