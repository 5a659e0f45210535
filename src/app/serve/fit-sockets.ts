import { fitToOpenFiles, type HttpLimits, WANTED_FILES } from '#surfaces/http/limits.ts';

/** With fewer connections than this a team may feel it. */
const FEW_SOCKETS = 1_000;

/** Limits for a process that may open so many files; a notice where connections are few for that reason. */
export function fitSockets(open_files: number | undefined, notice: (text: string) => void): HttpLimits {
  const limits = fitToOpenFiles(open_files);
  if (open_files !== undefined && limits.sockets < FEW_SOCKETS)
    notice(
      `This process may open ${open_files} files, so that the server takes ${limits.sockets} connections at once; ulimit -n ${WANTED_FILES} allows all that it can serve`,
    );
  return limits;
}
