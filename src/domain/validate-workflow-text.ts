import type { Workflow } from '#contract/workflow.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import { locateJson, placeAt, type PathStep, toPath, walkJson } from './locate-json.ts';
import { examineWorkflow } from './validate-workflow.ts';
import { type Fault, quote } from './validate-workflow-report.ts';

/** A fault and where it stands in the text. */
export interface TextFault extends Fault {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

/**
 * A workflow from the text of a file; an empty text is the built-in one. Besides the faults of the definition: text
 * that is no JSON, and keys that stand twice, of which JSON keeps only the last.
 */
export function validateWorkflowText(text: string): { workflow?: Workflow; faults: readonly TextFault[] } {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (json.length > LIMITS.workflow_bytes) {
    const message = `is longer than ${LIMITS.workflow_bytes} characters`;
    return { faults: [{ path: '', message, ...START }] };
  }
  if (json.trim() === '') return { workflow: DEFAULT_WORKFLOW, faults: [] };
  const twice: { steps: readonly PathStep[]; offset: number }[] = [];
  let values = 0;
  const broken = walkJson(json, (steps, offset, again) => {
    if (again && twice.length < LIMITS.workflow_faults) twice.push({ steps: [...steps], offset });
    values += 1;
    return values > LIMITS.body_values ? 'too many values' : undefined;
  });
  if (values > LIMITS.body_values) {
    const message = `has more than ${LIMITS.body_values} keys and values`;
    return { faults: [{ path: '', message, ...START }] };
  }
  if (broken !== undefined) {
    const hint = /^<{7} /m.test(json) ? { hint: 'Resolve the merge conflict in it' } : {};
    const message = `not valid JSON: ${broken.message}`;
    return { faults: [{ path: '', message, ...hint, ...placeAt(json, broken.offset) }] };
  }
  const { workflow, faults } = examineWorkflow(readJson(json));
  if (workflow !== undefined && twice.length === 0) return { workflow, faults: [] };
  const places = locateJson(
    json,
    faults.map(({ steps }) => steps),
  );
  const located = [
    ...twice.map(({ steps, offset }) => ({
      path: toPath(steps),
      message: `the key ${quote(String(steps.at(-1)))} stands here twice`,
      ...placeAt(json, offset),
    })),
    ...faults.map(({ steps: _steps, ...fault }, at) => ({ ...fault, ...(places[at] ?? START) })),
  ];
  // What is said of the whole comes last: that there is more.
  const whole = (fault: TextFault): number => (fault.path === '' ? 1 : 0);
  return {
    faults: located.toSorted((a, b) => whole(a) - whole(b) || a.line - b.line || a.column - b.column),
  };
}

const START = { line: 1, column: 1 };
