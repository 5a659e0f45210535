import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { LIMITS } from '#kernel/limits.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import { HTTP_LIMITS, WANTED_FILES } from '#surfaces/http/limits.ts';
import { listOperationRoutes } from '#surfaces/http/operation-routes.ts';

const TEXT = readFileSync(join(import.meta.dirname, '../docs/api.md'), 'utf8');

/** Rows of other names that a text has and the declarations have not, and the other way round. */
function findWrongNames(text: string): string[] {
  const said = [...text.matchAll(/^\| `(POST|PATCH|PUT) ([^`]+)` *\| `(\w+)` *\| `(\w+)` *\|$/gm)].map(
    ([, method, path, alias, field]) => `${method} ${path} ${alias} ${field}`,
  );
  const real = listOperationRoutes(OPERATIONS)
    .filter(({ path, declaration: { http } }) => path === `/api/v1${http?.path}`)
    .flatMap(({ method, path, aliases }) =>
      [...aliases].map(([alias, field]) => `${method} ${path.replace('/api/v1', '')} ${alias} ${field}`),
    );
  return [...said.filter((one) => !real.includes(one)), ...real.filter((one) => !said.includes(one))];
}

describe('docs/api.md', () => {
  it('has every other name of a field, and no more', () => {
    const planted = TEXT.replace(/`user_handle`( *\| `user`)/, '`handle`$1');
    expect(findWrongNames(planted)).toEqual([
      'POST /tasks/{id}/roles/{role} handle user',
      'POST /tasks/{id}/roles/{role} user_handle user',
    ]);
    expect(findWrongNames(TEXT)).toEqual([]);
  });

  it('has the limits as they are', () => {
    const { body_bytes, url_bytes, header_bytes, header_count, json_depth, sockets, page_rows_max } =
      HTTP_LIMITS;
    expect(TEXT).toContain(`| body | ${body_bytes / 1_048_576} MiB | 413 |`);
    expect(TEXT).toContain(`| nesting of JSON | ${json_depth} levels | 400 |`);
    expect(TEXT).toContain(`| address | ${url_bytes / 1_024} KiB | 414 |`);
    expect(TEXT).toContain(`| headers | ${header_bytes / 1_024} KiB, ${header_count} lines | 431 |`);
    expect(TEXT).toContain(
      `${HTTP_LIMITS.headers_timeout_ms / 1_000} s, ${HTTP_LIMITS.request_timeout_ms / 1_000} s`,
    );
    expect(TEXT).toContain(
      `| connections | ${sockets.toLocaleString('en')}; fewer where the process may open fewer files than ${WANTED_FILES.toLocaleString('en')} (\`ulimit -n\`): a quarter of those stays free | the one on which nothing was asked for longest is closed; where something is asked on all, the oldest of the token that has most |`,
    );
    expect(TEXT).toContain(`not taken yet | ${HTTP_LIMITS.unread_bytes_a_token / 1_048_576} MiB |`);
    expect(TEXT).toContain(`of all tokens | ${HTTP_LIMITS.unread_bytes / 1_048_576} MiB |`);
    expect(TEXT).toContain(`on its socket | ${HTTP_LIMITS.unread_bytes_a_run / 1_048_576} MiB |`);
    expect(TEXT).toContain(`of all | ${LIMITS.waits_a_token}, ${LIMITS.waits} |`);
    expect(TEXT).toContain(`wait so | ${HTTP_LIMITS.waiting_reads_a_token.toLocaleString('en')} |`);
    expect(TEXT).toContain(`nothing is taken | ${HTTP_LIMITS.answer_stall_ms / 1_000} s |`);
    expect(TEXT).toContain(
      `parked ones apart from them | ${SERVED_LIMITS.inbox_tasks.toLocaleString('en')} |`,
    );
    expect(TEXT).toContain(
      `| ${SERVED_LIMITS.conflicts.toLocaleString('en')}; ${SERVED_LIMITS.conflicts_bytes / 1_048_576} MiB | an entry \`more\` at the end says so |`,
    );
    expect(TEXT).toContain(`close a cycle | ${SERVED_LIMITS.walked_edges.toLocaleString('en')} | the same |`);
    const { rewritten_bytes, rewritten_parts } = NEIGHBOUR_LIMITS;
    expect(TEXT).toContain(
      `| ${rewritten_bytes / 1_048_576} MiB; ${rewritten_parts.toLocaleString('en')} comments and dependencies | the same |`,
    );
    const { history_entries, history_bytes } = SERVED_LIMITS;
    expect(TEXT).toContain(
      `| ${history_entries.toLocaleString('en')} entries, and events of ${history_bytes / 1_048_576} MiB | the newest ones |`,
    );
    expect(TEXT).toContain(`| ${LIMITS.body_values.toLocaleString('en')} | 413 |`);
    expect(TEXT).toContain(`up to ${page_rows_max.toLocaleString('en')} `);
  });
});
