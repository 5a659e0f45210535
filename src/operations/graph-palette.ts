import type { Look } from './graph-shape.ts';

export interface Tone {
  readonly fill: string;
  readonly line: string;
  readonly ink: string;
}

/** For pale paper; Mermaid and Graphviz know no second scheme. */
export const LIGHT: Readonly<Record<Look, Tone>> = {
  ready: { fill: '#e7f8ef', line: '#12925a', ink: '#0a5c38' },
  in_progress: { fill: '#e8f0fe', line: '#2f6fe4', ink: '#173f8f' },
  blocked: { fill: '#fdf0e3', line: '#d0700f', ink: '#7d4106' },
  open: { fill: '#f3f5f8', line: '#76839a', ink: '#3a4558' },
  closed: { fill: '#eeeaf6', line: '#9a8bbd', ink: '#5d5277' },
};

/** The same meanings on dark paper. */
export const DARK: Readonly<Record<Look, Tone>> = {
  ready: { fill: '#10281e', line: '#3ecf8e', ink: '#8be8bc' },
  in_progress: { fill: '#14233f', line: '#6ea2ff', ink: '#a9c8ff' },
  blocked: { fill: '#2f2012', line: '#f0a04b', ink: '#f8c891' },
  open: { fill: '#1d2430', line: '#8a97ad', ink: '#bac4d4' },
  closed: { fill: '#231f2e', line: '#8577a8', ink: '#b5a9d2' },
};
