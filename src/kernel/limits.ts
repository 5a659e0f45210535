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
  cursor_length: 1_000,
  tree_depth: 1_000,
  graph_svg_nodes: 2_000,
  project_name_length: 200,
  batch_tasks: 10_000,
  /** All that `forge prime` prints: what every session of an agent pays before it begins. */
  prime_tokens: 1_000,
  prime_rows: 10,
  prime_title_bytes: 60,
  prime_name_bytes: 40,
  ci_steps: 50,
  ci_step_length: 4_096,
  workflow_states: 100,
  state_name_length: 60,
  hooks_per_phase: 50,
  /** The text of a workflow; a longer file is refused before it is read. */
  workflow_bytes: 1_048_576,
  /** Faults of one workflow that are named; what goes beyond is counted. */
  workflow_faults: 200,
  max_rejections: 100,
  /** How many states a task may be led on through without somebody asking. */
  cascade_depth: 3,
  /** How long a claim holds without a heartbeat, where the claim asks for a lease. */
  lease_min_ms: 1_000,
  lease_max_ms: 24 * 3_600_000,
  leases_a_sweep: 100,
  /** Pages of SQLite's log before they are moved to the database. */
  checkpoint_pages: 4_000,
  event_list: 10_000,
  /** How often a move is tried again when the task changes while its guards run. */
  move_tries: 5,
  /** How long `forge task wait` may take, and takes unless told; most MCP hosts give up after a minute. */
  wait_seconds: 3_600,
  wait_default_seconds: 30,
  /** Comments and moves in a task's result. */
  result_entries: 1_000,
  result_default_entries: 5,
  /** Clients of `POST /mcp` that have a session at once, and how long one may be silent. */
  mcp_sessions: 200,
  mcp_session_idle_ms: 1_800_000,
  /** One message to `POST /mcp`: a description of the largest size, escaped. */
  mcp_body_bytes: 8_388_608,
  /** Tasks that `resources/list` names. */
  mcp_resources: 50,
  /** How long may an answer of a server be that `forge --server` asks. */
  remote_answer_bytes: 268_435_456,
  /** How long a command waits for another writer, unless FORGE_LOCK_TIMEOUT_MS says otherwise. */
  lock_timeout_ms: 60_000,
  /** How long the answer of a request with an Idempotency-Key is kept. */
  idempotency_ms: 86_400_000,
  /** Tries at one id length before the next longer one is used. */
  id_tries: 30,
  /** Odds of a collision that a growing project accepts before its ids get longer. */
  id_collision_odds: 0.01,
  /** A git hook waits no longer than this for another writer, and leaves larger task files to the next command. */
  hook_lock_timeout_ms: 1_500,
  hook_file_bytes: 16_777_216,
  /** A server joins task files up to this size in itself; larger ones are read by a process of its own. */
  server_fold_bytes: 524_288,
  /** Bytes of events that wait for one reader; it gets no more until it has read some of them. */
  event_waiting_bytes: 65_536,
  /** A reader that takes nothing for so long while events wait for it is cut; it can go on where it was. */
  event_stall_ms: 10_000,
  event_heartbeat_ms: 15_000,
  /** Events that are kept in memory for those who follow; older ones are read from the store. */
  event_window_rows: 2_000,
  event_window_bytes: 4_194_304,
  /** Events that are read from the store in one look. */
  event_page_rows: 200,
  /** How long a server that is told to stop waits for requests to end. */
  server_stop_ms: 10_000,
  /** A longer line of a task file is refused: it cannot have been written by Forge. */
  file_line_bytes: 67_108_864,
  /** Changes of one fold that have an event each; what goes beyond is told in one. */
  fold_events: 1_000,
  /** A change that is further ahead of this clock was made by a wrong one. */
  clock_skew_ms: 300_000,
  /** Stamps from the year 2200 on are not times but damage. */
  stamp_max_ms: 7_258_118_400_000,
} as const;
