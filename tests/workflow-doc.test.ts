import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOOK_PHASES, STATE_KINDS, Workflow, WorkflowHook, WorkflowState } from '#contract/workflow.ts';
import { validateWorkflowText } from '#domain/validate-workflow-text.ts';
import { ACTION_PHASES, DEFAULT_RESOLVED, statusOfKind } from '#domain/workflow.ts';
import { toWorkflowMermaid } from '#operations/workflow-drawing.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../docs/workflow.md'), 'utf8');

/** Rows of the table with this header, each as its cells; code marks are taken away. */
function tableOf(page: string, header: string): string[][] {
  const lines = page.split('\n');
  const rows: string[][] = [];
  lines.forEach((line, at) => {
    if (line !== header) return;
    for (let row = at + 2; lines[row]?.startsWith('|'); row += 1)
      rows.push(
        (lines[row] ?? '')
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replaceAll('`', '')),
      );
  });
  return rows;
}

const firstOf = (rows: string[][]): string[] => rows.map(([cell]) => cell ?? '');

function actionsOf(page: string): Record<string, string[]> {
  const rows = tableOf(page, '| action | phases | what it does |');
  return Object.fromEntries(rows.map(([action, phases]) => [action ?? '', (phases ?? '').split(', ')]));
}

function drawingOf(page: string): string | undefined {
  return /<!-- workflow:begin[^\n]*-->\n```mermaid\n([^]*?)```\n<!-- workflow:end -->/.exec(page)?.[1];
}

describe('docs/workflow.md', () => {
  it('has every action with its phases', () => {
    expect(actionsOf(PAGE)).toEqual(ACTION_PHASES);
  });

  it('has every key, kind and phase of a definition', () => {
    const keys = firstOf(tableOf(PAGE, '| key | what it is | left out |'));
    const shapes = [Workflow, WorkflowState, WorkflowHook].flatMap(({ shape }) => Object.keys(shape));
    expect(keys).toEqual(shapes);
    const kinds = tableOf(PAGE, '| kind | status | meaning |').map(([kind, status]) => [kind, status]);
    expect(kinds).toEqual(STATE_KINDS.map((kind) => [kind, statusOfKind(kind)]));
    expect(firstOf(tableOf(PAGE, '| phase | of | when |'))).toEqual(HOOK_PHASES);
  });

  it('[S165] draws the default as it is', () => {
    expect(drawingOf(PAGE)).toBe(toWorkflowMermaid(DEFAULT_RESOLVED));
  });

  it('has an example that is a workflow', () => {
    const [, example = ''] = /```json\n([^]*?)```/.exec(PAGE) ?? [];
    expect(validateWorkflowText(example).faults).toEqual([]);
    expect(validateWorkflowText(example).workflow?.states).toHaveLength(4);
  });

  it('would be found out: a page without an action, a phase or an edge differs', () => {
    const planted = PAGE.replace(/^\| `run_merge` .*\n/m, '')
      .replace('| `cleanup_workspace` | `on_exit`, `on_enter` |', '| `cleanup_workspace` | `on_exit` |')
      .replace('  s0 --> s1\n', '');
    expect(actionsOf(planted)).not.toHaveProperty('run_merge');
    expect(actionsOf(planted)['cleanup_workspace']).toEqual(['on_exit']);
    expect(drawingOf(planted)).not.toBe(toWorkflowMermaid(DEFAULT_RESOLVED));
  });
});
