import { describe, expect, it } from 'vitest';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { DEFAULT_RESOLVED, resolveWorkflow } from '#domain/workflow.ts';
import { toWorkflowDot, toWorkflowMermaid, toWorkflowText } from './workflow-drawing.ts';

const FORMATS = { text: toWorkflowText, mermaid: toWorkflowMermaid, dot: toWorkflowDot };

/** A name that validation would refuse: no drawing may trust that it was asked. */
const HOSTILE = 'end"]; click <b>\n\u202e';
const hostile = resolveWorkflow({
  states: [
    { name: HOSTILE, kind: 'initial', next: ['end'], role: HOSTILE },
    { name: 'end', kind: 'active', next: [HOSTILE] },
    { name: 'cancelled', kind: 'terminal' },
  ],
});

describe('the drawings of a workflow', () => {
  it('[S165] text has every edge of the default', () => {
    const text = toWorkflowText(DEFAULT_RESOLVED);
    const edges = text.split('\n').filter((line) => /^ {2}[-=]>/.test(line));
    expect(edges).toHaveLength(DEFAULT_WORKFLOW.states.flatMap(({ next = [] }) => next).length);
    expect(text).toContain(
      'review (gate, reviewer, at most 3 rejections)\n  => merging (cascade_on_review)\n  -> in_progress\n',
    );
    expect(text).toMatch(
      /\nFrom every state that is not terminal also: done \(close\), cancelled \(cancel\), blocked \(block\)\.\n$/,
    );
  });

  it.each(['mermaid', 'dot'] as const)('%s has every state and every edge once', (format) => {
    const lines = FORMATS[format](DEFAULT_RESOLVED).split('\n');
    const edges = lines.filter((line) => /-->|\.->|" -> "/.test(line));
    expect(new Set(edges).size).toBe(DEFAULT_WORKFLOW.states.flatMap(({ next = [] }) => next).length);
    const states = lines.filter((line) => /:::|shape=/.test(line));
    expect(states).toHaveLength(DEFAULT_WORKFLOW.states.length);
  });

  it.each(Object.entries(FORMATS))('%s is the same every time', (_format, draw) => {
    expect(draw(DEFAULT_RESOLVED)).toBe(draw(resolveWorkflow(structuredClone(DEFAULT_WORKFLOW))));
  });

  it('escapes names that mean something to a drawing', () => {
    for (const draw of Object.values(FORMATS)) expect(draw(hostile)).not.toContain('\u202e');
    expect(toWorkflowText(hostile).split('\n')[0]).toBe(
      String.raw`end"]; click <b>\n\u202e (initial, end"]; click <b>\n\u202e)`,
    );
    // Every quote in DOT that is not its own is escaped, and Mermaid sees no mark of its own.
    expect(toWorkflowDot(hostile)).toContain(String.raw`"end\"]; click <b>\\n\\u202e" -> "end";`);
    expect(toWorkflowMermaid(hostile)).toContain('s0["end#34;#93;#59; click #60;b#62;');
    expect(toWorkflowMermaid(hostile)).toContain('  s0 --> s1\n');
  });
});
