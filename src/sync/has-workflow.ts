import { statSync } from 'node:fs';
import { join } from 'node:path';

export function hasWorkflow(folder: string): boolean {
  return statSync(join(folder, 'workflow.json'), { throwIfNoEntry: false }) !== undefined;
}
