import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the first run says on a machine without walls was said: most tests are about other things. */
export function noteUnwalled(forgeHome: string): void {
  mkdirSync(join(forgeHome, 'told'), { recursive: true, mode: 0o700 });
  writeFileSync(join(forgeHome, 'told/no-walls'), '');
}
