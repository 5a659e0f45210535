import type { StateKind, WorkflowState } from '#contract/workflow.ts';
import { CASCADING_ACTIONS, roleOf, type ResolvedWorkflow } from '#domain/workflow.ts';
import { quote } from './graph-dot.ts';
import { toLine } from './graph-label.ts';
import { escapeLabel } from './graph-mermaid.ts';
import { LIGHT, type Tone } from './graph-palette.ts';

/** An edge of the drawing; `by` names the action that takes it without somebody asking. */
interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly by: string | undefined;
}

const TONES: Readonly<Record<StateKind, Tone>> = {
  backlog: { fill: '#ffffff', line: '#76839a', ink: '#3a4558' },
  initial: LIGHT.ready,
  active: LIGHT.in_progress,
  gate: LIGHT.blocked,
  custom: LIGHT.open,
  terminal: LIGHT.closed,
};

/** One state a paragraph, its edges below it. Pure, like the other two. */
export function toWorkflowText(workflow: ResolvedWorkflow): string {
  const edges = listDrawnEdges(workflow);
  const parts = [...workflow.states.values()].map((state) => {
    const own = edges.filter(({ from }) => from === state.name);
    const lines = own.map(
      ({ to, by }) => `  ${by === undefined ? '->' : '=>'} ${to}${by === undefined ? '' : ` (${by})`}`,
    );
    return [`${state.name} (${factsOf(workflow, state).join(', ')})`, ...lines].map(toLine).join('\n');
  });
  return `${[...parts, toLine(describeImplicit(workflow))].join('\n')}\n`;
}

export function toWorkflowMermaid(workflow: ResolvedWorkflow): string {
  const names = [...workflow.states.keys()];
  // A word such as `end` is no name for Mermaid.
  const name = (state: string): string => `s${names.indexOf(state)}`;
  const states = [...workflow.states.values()].map((state) => {
    const label = `${escapeLabel(state.name)}<br/>${escapeLabel(factsOf(workflow, state).join(' · '))}`;
    const [open, close] =
      state.kind === 'gate' ? ['{{', '}}'] : state.kind === 'terminal' ? ['([', '])'] : ['[', ']'];
    return `  ${name(state.name)}${open}"${label}"${close}:::${state.kind}`;
  });
  const edges = listDrawnEdges(workflow).map(({ from, to, by }) =>
    by === undefined
      ? `  ${name(from)} --> ${name(to)}`
      : `  ${name(from)} -. "${escapeLabel(by)}" .-> ${name(to)}`,
  );
  const styles = [...new Set([...workflow.states.values()].map(({ kind }) => kind))].map((kind) => {
    const { fill, line, ink } = TONES[kind];
    return `  classDef ${kind} fill:${fill},stroke:${line},color:${ink}`;
  });
  const note = `  %% ${toLine(describeImplicit(workflow))}`;
  return `${['flowchart LR', note, ...states, ...edges, ...styles].join('\n')}\n`;
}

export function toWorkflowDot(workflow: ResolvedWorkflow): string {
  const states = [...workflow.states.values()].map((state) => {
    const { fill, line, ink } = TONES[state.kind];
    const shape = state.kind === 'gate' ? 'hexagon' : state.kind === 'terminal' ? 'oval' : 'box';
    const label = quote(state.name, factsOf(workflow, state).join(' · '));
    return `  ${quote(state.name)} [label=${label}, shape=${shape}, fillcolor="${fill}", color="${line}", fontcolor="${ink}"];`;
  });
  const edges = listDrawnEdges(workflow).map(({ from, to, by }) => {
    const look = by === undefined ? '' : ` [style=dashed, label=${quote(by)}]`;
    return `  ${quote(from)} -> ${quote(to)}${look};`;
  });
  return `${[
    'digraph workflow {',
    '  rankdir=LR;',
    `  graph [fontname="Helvetica,Arial,sans-serif", fontsize=10, labelloc=b, label=${quote(describeImplicit(workflow))}];`,
    '  node [style="rounded,filled", fontname="Helvetica,Arial,sans-serif", fontsize=11];',
    '  edge [color="#76839a", arrowsize=0.7, fontname="Helvetica,Arial,sans-serif", fontsize=9];',
    ...states,
    ...edges,
    '}',
  ].join('\n')}\n`;
}

/** An edge that is drawn and also taken by itself is one edge. */
function listDrawnEdges(workflow: ResolvedWorkflow): DrawnEdge[] {
  return [...workflow.states.values()].flatMap((state) => {
    const cascades = (state.after_enter ?? []).filter(({ action }) => CASCADING_ACTIONS.has(action));
    const targets = new Set([...(state.next ?? []), ...cascades.flatMap(({ to }) => to ?? [])]);
    return [...targets].map((to) => ({
      from: state.name,
      to,
      by: cascades.find((hook) => hook.to === to)?.action,
    }));
  });
}

function factsOf(workflow: ResolvedWorkflow, state: WorkflowState): string[] {
  const role = roleOf(workflow, state.name);
  const max = state.gate_config?.max_rejections;
  return [
    state.kind,
    ...(role === undefined ? [] : [role]),
    ...(max === undefined ? [] : [`at most ${max} rejection${max === 1 ? '' : 's'}`]),
  ];
}

function describeImplicit({ closed, cancelled, blocked }: ResolvedWorkflow): string {
  const block = blocked === undefined ? '' : `, ${blocked} (block)`;
  return `From every state that is not terminal also: ${closed} (close), ${cancelled} (cancel)${block}.`;
}
