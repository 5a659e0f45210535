import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { issue, line, readIssues } from '../../../tests/support/tracker-tasks.ts';

describe('limits and odd text', () => {
  it('cuts a title and keeps the whole in the description', async () => {
    const title = '🙂'.repeat(300);
    const read = await readIssues(issue({ id: 'bd-1', title, description: 'Text.' }));
    const { title: cut, description } = line(read, 'bd-1') as unknown as {
      title: string;
      description: string;
    };
    expect(cut.length).toBeLessThanOrEqual(LIMITS.title_length);
    expect(cut).toMatch(/^(🙂)+…$/u);
    expect(description).toBe(`${title}\n\nText.`);
    expect(read.notes.map(({ field }) => field)).toContain('title');
  });

  it('makes one line of a title, and a name for a task without one', async () => {
    const read = await readIssues(
      issue({ id: 'bd-1', title: 'One\r\ntwo' }),
      issue({ id: 'bd-2', title: ' ' }),
    );
    expect(line(read, 'bd-1').title).toBe('One two');
    expect(line(read, 'bd-2').title).toBe('Untitled bd-2');
  });

  it('spills what is too long into comments', async () => {
    const description = `${'ä'.repeat(LIMITS.description_bytes / 2)}end`;
    const close_reason = 'r'.repeat(LIMITS.close_reason_length + 1);
    const payload = 'p'.repeat(LIMITS.metadata_bytes);
    const comments = [
      { author: 'ada', text: 'c'.repeat(LIMITS.comment_bytes + 1), created_at: '2026-01-01T00:00:00Z' },
    ];
    const read = await readIssues(
      issue({ id: 'bd-1', description, close_reason, payload, spec_id: 's', comments, status: 'closed' }),
    );
    const one = line(read, 'bd-1');
    const bodies = (one.comments ?? []).map(({ body }) => body);
    expect(one.description).toBe('ä'.repeat(LIMITS.description_bytes / 2));
    expect(bodies).toContain('The description goes on:\n\nend');
    expect(bodies).toContain(`The whole reason for closing:\n\n${close_reason}`);
    expect(String(one.close_reason)).toHaveLength(LIMITS.close_reason_length);
    expect(one.metadata.beads).toEqual({ spec_id: 's' });
    const payloadText = bodies
      .filter((body) => body.startsWith('metadata.payload:'))
      .map((body) => body.replace('metadata.payload:\n\n', ''));
    expect(payloadText.join('')).toBe(JSON.stringify(payload));
    for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(LIMITS.comment_bytes);
  });

  it('[B13] an id of any length still says where the task came from', async () => {
    const id = `bd-${'x'.repeat(LIMITS.metadata_bytes / 2)}`;
    // Many small ones, so that the id is what takes most and stays what takes most.
    const metadata = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, 'v'.repeat(150)]));
    const read = await readIssues(issue({ id, metadata }));
    const kept = line(read, id).metadata;
    expect(String(kept.beads_id)).toMatch(/^bd-x+…$/);
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(LIMITS.metadata_bytes);
  });

  it('keeps labels and names that are too long', async () => {
    const long = 'l'.repeat(LIMITS.label_length + 1);
    const many = Array.from({ length: LIMITS.labels_per_task + 1 }, (_, n) => `label-${n}`);
    const assignee = 'n'.repeat(LIMITS.identity_length + 1);
    const read = await readIssues(issue({ id: 'bd-1', labels: [long, ...many, ' spaced\tout '], assignee }));
    const one = line(read, 'bd-1');
    expect(one.labels).toHaveLength(LIMITS.labels_per_task);
    expect(one.assignee).toBe('n'.repeat(LIMITS.identity_length));
    expect(one.metadata.beads).toEqual({ labels: [long, 'label-100', ' spaced\tout '], assignee });
  });

  it('[S2-F11] takes control characters and odd keys as data, and only replaces what nothing can hold', async () => {
    const read = await readIssues(
      `{"id":"bd-1","title":"\\u001b[31mred\\u0000","description":"a\\u0007b\\ud800","created_at":"2026-01-01T00:00:00Z","__proto__":{"a":"\\u0000"},"metadata":{"":1,"beads_id":"fake","constructor":2,"big":12345678901234567890}}`,
    );
    const one = line(read, 'bd-1');
    expect(one).toMatchObject({ title: '\\u001b[31mred\u2400', description: 'a\u0007b\ufffd' });
    const beads = one.metadata.beads as Record<string, unknown>;
    expect(Object.getOwnPropertyDescriptor(beads, '__proto__')?.value).toEqual({ a: '\u2400' });
    expect(one.metadata).toMatchObject({ beads_id: 'bd-1', constructor: 2, big: '12345678901234567890' });
    expect(beads.metadata).toEqual({ '': 1, beads_id: 'fake' });
    expect(read.notes.map(({ what }) => what)).toContain(
      'holds a number that cannot be kept exactly; it became a text',
    );
  });

  it('keeps values that are nested too deep as text', async () => {
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    const read = await readIssues(
      `{"id":"bd-1","title":"Deep","created_at":"2026-01-01T00:00:00Z","metadata":{"deep":${deep}}}`,
    );
    expect(line(read, 'bd-1').metadata.deep).toBe(deep);
    const deeper = await readIssues(
      `{"id":"bd-1","x":${'['.repeat(5000)}${']'.repeat(5000)}}`,
      issue({ id: 'bd-2' }),
    );
    expect([...deeper.ids.keys()]).toEqual(['bd-2']);
  });

  it('keeps values of a kind that a field cannot have', async () => {
    const read = await readIssues(
      issue({
        id: 'bd-1',
        title: 7,
        priority: 9,
        labels: ['a', 1],
        updated_at: 'soon',
        comments: ['hm'],
        dependencies: ['x'],
      }),
    );
    const one = line(read, 'bd-1');
    expect(one).toMatchObject({
      title: 'Untitled bd-1',
      priority: 2,
      labels: ['a'],
      updated_at: '2026-01-01T00:00:00.000Z',
    });
    expect(one.metadata.beads).toEqual({
      title: 7,
      priority: 9,
      labels: [1],
      updated_at: 'soon',
      comments: ['hm'],
      dependencies: ['x'],
    });
  });

  it('keeps what is said about the closing of a task that is open', async () => {
    const closing = { closed_at: '2026-01-02T00:00:00Z', close_reason: 'Done' };
    const read = await readIssues(issue({ id: 'bd-1', ...closing }));
    expect(line(read, 'bd-1')).toMatchObject({
      status: 'open',
      closed_at: null,
      metadata: { beads: closing },
    });
    expect(read.notes).toHaveLength(2);
  });

  it('says when a time lies in the future', async () => {
    const { notes } = await readIssues(issue({ id: 'bd-1', updated_at: '2030-01-01T00:00:00Z' }));
    expect(notes).toContainEqual({ where: 'bd-1', field: 'updated_at', what: 'lies in the future' });
  });
});
