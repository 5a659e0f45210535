import type { Writer } from '../store.ts';
import { applyRecord, readKnown } from './memory-apply.ts';
import { readLine } from './memory-rows.ts';
import { writeMemory, type MemoryParts } from './memory-transaction.ts';

/** Tasks that are not here, by the lines that another store has of them. */
export function takeIn(parts: MemoryParts, lines: readonly string[], by: Writer): void {
  writeMemory(parts, by, (tx) => {
    for (const line of lines) {
      const record = readLine(line);
      applyRecord(tx, readKnown(tx.tables, record.id), record, { silent: false });
    }
  });
}
