import { encodeRecord } from '#domain/record-codec.ts';
import type { Row } from './database.ts';
import { rowToRecord } from './record-rows.ts';

/** The canonical line of a row and what hangs on it. */
export function rowToLine(row: Row, edges: readonly Row[], comments: readonly Row[]): string {
  const plain = edges.map(({ id, type }) => ({ id, type }));
  const said = comments.map(({ owner: _owner, ...comment }) => comment);
  return encodeRecord(rowToRecord(row, plain, said));
}
