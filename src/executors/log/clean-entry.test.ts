import { describe, expect, it } from 'vitest';
import { maskSecrets } from '#domain/find-secrets.ts';
import { LIMITS } from '#kernel/limits.ts';
import { cleanEntry } from './clean-entry.ts';

const KEY = 'a1B2'.repeat(10);

describe('cleanEntry', () => {
  const rules = { redact: maskSecrets, line_bytes: LIMITS.log_line_bytes };

  it('[S3] takes out of a call of a tool what its key says to be secret', () => {
    const input = {
      headers: { Authorization: 'Basic YWRtaW46aHVudGVyMjIyMg==' },
      env: { AWS_SECRET_ACCESS_KEY: KEY },
      args: ['--secret-access-key', KEY, '--region', 'us'],
    };
    const entry = cleanEntry({ kind: 'tool_call', id: 't1', tool: 'fetch', input }, rules);
    expect(entry).toMatchObject({
      input: {
        headers: { Authorization: 'Basic [redacted]' },
        env: { AWS_SECRET_ACCESS_KEY: '[redacted]' },
        args: ['--secret-access-key', '[redacted]', '--region', 'us'],
      },
    });
  });
});
