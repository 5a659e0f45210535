import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyScan } from '#kernel/body-scan.ts';
import { isForgeError } from '#kernel/errors.ts';
import { startHttp } from '../../../tests/support/http-server.ts';
import { HTTP_LIMITS } from './limits.ts';
import { parseBody } from './read-body.ts';

describe('a key that stands twice', () => {
  it.each([
    ['{"title":"a","title":"b"}', 'title'],
    ['{"title":"a","title":"a"}', 'title'],
    ['{"title":"a","t\\u0069tle":"b"}', 'title'],
    ['{"metadata_set":{"a":1,"b":{"c":1,"c":2}}}', 'metadata_set.b.c'],
    ['{"rows":[{"id":1},{"id":1,"id":2}]}', 'rows[1].id'],
    ['{"a":{"x":1,"y":2},"a":{}}', 'a'],
    // As many members as the value has left, if only those of one level were counted.
    ['{"a":{"x":1},"b":{"y":1,"y":2}}', 'b.y'],
  ])('is refused by its name in %s', async (body, field) => {
    await using http = await startHttp();
    const { token } = await http.token('admin');
    const path = '/api/v1/operations/task.create';
    expect(await http.ask({ method: 'POST', path, token, body })).toMatchObject({
      status: 400,
      json: { code: 'invalid_input', message: `"${field}" is given more than once`, details: { field } },
    });
  });

  it('is what is seen, and nothing else', () => {
    // No backslash: once it has seen one as a key, V8 13.6 takes some keys that are one escape, as "\n", for it.
    const key = fc.constantFrom('a', 'b', ':', '"', '{', 'ü', '\n');
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, 1, true, 'a:"b"', '{"a":1}', ''),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value, { minKeys: 1, maxKeys: 3 }), fc.nat(2), (object, space) => {
        const text = JSON.stringify(object, undefined, space);
        expect(parseBody(toBody(text))).toEqual(object);
        const [first = ''] = Object.keys(object);
        const twice = text.replace(/\}$/, `,${JSON.stringify(first)}:0}`);
        expect(catchCode(() => parseBody(toBody(twice)))).toBe('invalid_input');
      }),
    );
  });

  it('of a great length is cut where it is told', () => {
    const long = JSON.stringify('x'.repeat(10_000));
    const error = catchError(() => parseBody(toBody(`{${long}:1,${long}:2}`)));
    expect(isForgeError(error) && error.message.length).toBeLessThan(200);
  });
});

function toBody(text: string): Parameters<typeof parseBody>[0] {
  const bytes = Buffer.from(text);
  const scan = new BodyScan(HTTP_LIMITS.json_depth);
  scan.take(bytes);
  return { bytes, scan };
}

function catchError(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function catchCode(work: () => unknown): string | undefined {
  const error = catchError(work);
  return isForgeError(error) ? error.code : undefined;
}
