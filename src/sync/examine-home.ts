import { isForgeError, type ForgeError } from '#kernel/errors.ts';
import { readHomeFile } from './home-file.ts';
import { HOME_FILES } from './home-files.ts';

/** Files of the home that cannot be read: a pipe, a device, a folder in their place, or too large. What they say is for others. */
export function listHomeFaults(home: string): ForgeError[] {
  return Object.keys(HOME_FILES).flatMap((name) => {
    try {
      readHomeFile(home, name);
      return [];
    } catch (error) {
      if (isForgeError(error)) return [error];
      throw error;
    }
  });
}
