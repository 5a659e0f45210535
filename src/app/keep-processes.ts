import { describeContainment } from '#domain/describe-containment.ts';
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
  /** Finds out what the machine allows when it is first asked, and says once where that is weak. */
  open(): Promise<ProcessHost>;
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
  const open = async (): Promise<ProcessHost> => {
    host = await openProcessHost({ accept: readAccepted(env) });
    const { weakness } = describeContainment(toShown(host));
    if (weakness !== undefined) notice(weakness);
    return host;
  };
  return {
    open: () => (opening ??= open()),
    killNow: () => {
      if (host !== undefined) killLive(host);
    },
  };
}

/** What a sentence about it needs to know. */
export function toShown({ containment }: ProcessHost): Parameters<typeof describeContainment>[0] {
  const { kind, namespace, cgroup_folder } = containment;
  return { kind, of_users: namespace?.of_users === true, cgroup: cgroup_folder !== undefined };
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
