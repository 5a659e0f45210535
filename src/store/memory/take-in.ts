import { planApplication } from '#domain/plan-application.ts';
import type { Writer } from '../store.ts';
import { adoptWaiting, readLine, writeRow } from './memory-rows.ts';
import { writeMemory, type MemoryParts } from './memory-transaction.ts';
import { workflowOf } from './memory-workflow.ts';

/** Tasks that are not here, by the lines that another store has of them. */
export function takeIn(parts: MemoryParts, lines: readonly string[], by: Writer): void {
  writeMemory(parts, by, (tx) => {
    const workflow = workflowOf(tx.tables);
    for (const line of lines) {
      const record = readLine(line);
      const { numbers, toEvents } = planApplication(undefined, record, { workflow });
      writeRow(tx.tables, record, numbers);
      adoptWaiting(tx.tables, record.id);
      for (const event of toEvents()) tx.tell({ ...event, task_id: record.id });
    }
  });
}
