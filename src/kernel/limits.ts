/** Every limit of Forge, in one place. Lengths are UTF-16 code units unless the name says bytes. */
export const LIMITS = {
  title_length: 500,
  description_bytes: 1_048_576,
  comment_bytes: 262_144,
  close_reason_length: 2_000,
  identity_length: 200,
  label_length: 100,
  labels_per_task: 100,
  metadata_bytes: 1_048_576,
  metadata_depth: 64,
  metadata_key_length: 200,
  dependencies_per_task: 10_000,
  query_length: 1_000,
  list_limit: 10_000_000,
  tree_depth: 1_000,
  graph_svg_nodes: 2_000,
  project_name_length: 200,
  batch_tasks: 10_000,
  /** All that `forge prime` prints: what every session of an agent pays before it begins. */
  prime_tokens: 1_000,
  prime_rows: 10,
  prime_title_bytes: 60,
  prime_name_bytes: 40,
  workflow_states: 100,
  state_name_length: 60,
  hooks_per_phase: 50,
  max_rejections: 100,
  /** How many states a task may be led on through without somebody asking. */
  cascade_depth: 3,
  /** How long a command waits for another writer, unless FORGE_LOCK_TIMEOUT_MS says otherwise. */
  lock_timeout_ms: 60_000,
  /** Tries at one id length before the next longer one is used. */
  id_tries: 30,
  /** Odds of a collision that a growing project accepts before its ids get longer. */
  id_collision_odds: 0.01,
  /** A git hook waits no longer than this for another writer, and leaves larger task files to the next command. */
  hook_lock_timeout_ms: 1_500,
  hook_file_bytes: 16_777_216,
  /** A longer line of a task file is refused: it cannot have been written by Forge. */
  file_line_bytes: 67_108_864,
  /** Changes of one fold that have an event each; what goes beyond is told in one. */
  fold_events: 1_000,
  /** A change that is further ahead of this clock was made by a wrong one. */
  clock_skew_ms: 300_000,
  /** Stamps from the year 2200 on are not times but damage. */
  stamp_max_ms: 7_258_118_400_000,
} as const;
