/**
 * For work that is tried every second, where a line for each would fill the log: tells a line only where it is not the last
 * one. An empty line says that it went well.
 */
export function tellChanges(notice: (line: string) => void): (line: string) => void {
  let last = '';
  return (line) => {
    if (line !== last && line !== '') notice(line);
    last = line;
  };
}
