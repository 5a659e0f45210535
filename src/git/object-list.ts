import { delimiter } from 'node:path';

/** For a variable that lists folders: quoted where git would otherwise take the path for several. */
export function toObjectList(path: string): string {
  return path.includes(delimiter) || path.startsWith('"') ? JSON.stringify(path) : path;
}
