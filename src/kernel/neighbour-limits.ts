/** How much of what hangs on one task a single operation reads, shows or writes; each with a test that hits it. */
export const NEIGHBOUR_LIMITS = {
  /** Children, dependents, and tasks that a close has freed, in one answer; what goes beyond is counted. */
  shown: 1_000,
  /** Tasks that wait, where the caller does not say how many, and what is told of the blockers of each. */
  blocked_tasks: 1_000,
  blockers_shown: 20,
  /** Neighbours whose records one write of a server changes: a deleted task is taken out of each of them. */
  rewritten: 700,
  /** Of those records together, where they are several: bytes, and comments and dependencies. */
  rewritten_bytes: 8_388_608,
  rewritten_parts: 25_000,
  /** Dependents whose open blockers one write of a server counts anew, in SQL. */
  recounted: 25_000,
  /** Lines of a tree that a server gives: it reads and writes them in one go. */
  tree_served: 10_000,
  /** A graph that a server gives as JSON. */
  graph_served_json: { nodes: 10_000, edges: 20_000 },
} as const;
