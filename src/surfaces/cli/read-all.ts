import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';

/** No field holds more: the longest is counted in UTF-16 units, and one of them takes at most three bytes. */
const MOST_BYTES = 3 * Math.max(LIMITS.description_bytes, LIMITS.metadata_bytes, LIMITS.comment_bytes);

/** Everything a source gives, unless it is more than any field could hold: then invalid_input, without waiting for its end. */
export async function readAll(source: AsyncIterable<Uint8Array | string>, what: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    size += bytes.length;
    if (size > MOST_BYTES) {
      throw new ForgeError(
        'invalid_input',
        `${what} is larger than ${MOST_BYTES} bytes, more than any field can hold`,
        {
          details: { limit: MOST_BYTES },
        },
      );
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
