import type { GraphView } from '#contract/graph-operations.ts';

export interface TreeQuery {
  readonly id: string;
  readonly depth: number;
  /** Of a tree with more lines nothing is read further. */
  readonly most?: number | undefined;
}

export interface GraphQuery {
  readonly id: string | undefined;
  readonly all: boolean;
  readonly most?: { readonly nodes: number; readonly edges: number } | undefined;
}

/** Empty where there are too many of one kind. */
export type ReadGraph = GraphView & { readonly too_many?: 'nodes' | 'edges' };
