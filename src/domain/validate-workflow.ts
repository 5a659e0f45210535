import type { Workflow } from '#contract/workflow.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import { checkCascades } from './validate-workflow-cascades.ts';
import { checkGraph } from './validate-workflow-graph.ts';
import { createFaultReport, type Fault, type FoundFault } from './validate-workflow-report.ts';
import { checkRules, nameStates } from './validate-workflow-rules.ts';
import { readDraft } from './validate-workflow-shape.ts';

export interface ValidatedWorkflow {
  /** There where nothing is wrong. */
  readonly workflow?: Workflow;
  readonly faults: readonly Fault[];
}

/**
 * Every fault of a definition at once, in the order of the definition; `{}` is the built-in workflow. Never throws, and
 * what it costs is bounded by the limits, whatever comes in.
 */
export function validateWorkflow(json: unknown): ValidatedWorkflow {
  const { workflow, faults } = examineWorkflow(json);
  if (workflow !== undefined) return { workflow, faults: [] };
  return { faults: faults.map(({ steps: _steps, ...fault }) => fault) };
}

/** The same, with the way to each fault for those who look for it in a text. */
export function examineWorkflow(json: unknown): { workflow?: Workflow; faults: FoundFault[] } {
  if (isEmptyObject(json)) return { workflow: DEFAULT_WORKFLOW, faults: [] };
  const report = createFaultReport();
  const draft = readDraft(json, report);
  if (draft !== undefined) {
    const names = nameStates(draft);
    checkRules(draft, names, report);
    checkGraph(names, report);
    checkCascades(names, report);
  }
  const faults = report.list();
  // Every key and every value was looked at: without a fault it is a workflow.
  return faults.length === 0 ? { workflow: json as Workflow, faults } : { faults };
}

function isEmptyObject(json: unknown): boolean {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && Object.keys(json).length === 0;
}
