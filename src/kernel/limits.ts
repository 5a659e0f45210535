/** Every limit of Forge, in one place. Lengths are UTF-16 code units unless the name says bytes. */
export const LIMITS = {
  title_length: 500,
  description_bytes: 1_048_576,
  comment_bytes: 262_144,
  comments_per_task: 5_000,
  /** Of all comments of a task, as they are in its line: with all else that a task may have they still fit into one. */
  comments_bytes: 8_388_608,
  close_reason_length: 2_000,
  identity_length: 200,
  label_length: 100,
  labels_per_task: 100,
  metadata_bytes: 1_048_576,
  metadata_depth: 64,
  metadata_key_length: 200,
  metadata_keys: 2_000,
  /** With those that were taken away: each leaves a stamp in the task's line. */
  metadata_keys_ever: 4_000,
  labels_ever: 1_000,
  dependencies_ever: 20_000,
  /** Of any JSON; what is nested deeper cannot be walked. */
  json_depth: 1_000,
  /** A longer number is none that a double holds; comparing the two would take its time. */
  json_number_length: 1_100,
  /** Of one value of others in a message, of a whole message, of the details beside it, and names of one sort; the rest is counted. */
  error_value_length: 200,
  error_message_length: 8_192,
  error_details_length: 65_536,
  error_names: 20,
  dependencies_per_task: 10_000,
  query_length: 1_000,
  list_limit: 10_000_000,
  cursor_length: 1_000,
  tree_depth: 1_000,
  graph_svg: { nodes: 2_000, edges: 4_000 },
  /** In a server a graph holds up all others while it is drawn or written: about 0.1 s at these sizes. */
  graph_served_svg: { nodes: 1_000, edges: 2_000 },
  graph_served_text: { nodes: 2_500, edges: 5_000 },
  project_name_length: 200,
  /** Entries of a folder of skills, skills that are read, and bytes of the head of each. */
  skill_entries: 10_000,
  skills: 500,
  skill_head_bytes: 16_384,
  /** Tasks that are named at once for a batch; batches that are kept, closed ones too, and tasks of all of them. */
  batch_tasks: 10_000,
  batches: 1_000,
  batches_tasks: 50_000,
  /** Tasks of other projects that are looked up for one operation; the others stay as they were last known. */
  foreign_tasks: 5_000,
  /** Tasks that are looked up by their ids before others have their turn. */
  tasks_a_turn: 500,
  /** All that `forge prime` prints: what every session of an agent pays before it begins. */
  prime_tokens: 1_000,
  prime_rows: 10,
  prime_title_bytes: 60,
  prime_name_bytes: 40,
  ci_steps: 50,
  ci_step_length: 4_096,
  /** Of a step's output that is kept with its result, and told to the agent; of a longer line only the end is looked at and shown. */
  step_tail_length: 12_000,
  step_line_length: 131_072,
  /** What the settings may ask for. */
  runs_at_once: 1_000,
  /** Words of an agent's command, and variables of its environment. */
  agent_words: 100,
  agent_env: 100,
  /** Of a glob in `workspace.copy`: its length, what its braces may stand for, and entries of folders looked at for it. */
  copy_pattern_length: 256,
  copy_pattern_ways: 64,
  /** `**` in one glob. Forge's own reading of it would take more; git's, which leaves such files out, would not end. */
  copy_pattern_folders: 4,
  copy_entries: 1_000_000,
  agent_env_length: 32_768,
  /** Files of a repository for the program of an agent, in one folder; more are not trusted. */
  agent_settings_files: 1_000,
  /** Files that one command may mean, where it cannot be read which it runs; with more it is never trusted. */
  trust_tree_files: 20_000,
  /** Of a command that is read to know which files it runs; what goes beyond (nesting, openings, pipes) may run any file. */
  shell_line_length: 100_000,
  shell_line_depth: 100,
  shell_line_openings: 1_000,
  shell_line_pipes: 200,
  /** All that the program of one run may write. */
  run_output_bytes: 1_073_741_824,
  /** What a program says that it used; more in one report is not believed. */
  usage_usd: 100_000,
  usage_tokens: 100_000_000_000,
  /** How long an agent waits for leave to do something. */
  approval_ms: 600_000,
  /** How often whoever watches a run looks whether somebody has left the attempt's branch in its folder. */
  stray_look_ms: 1_000,
  /** How often the watcher of a run looks for wishes, says that it is there, and looks whether the agent was removed. */
  wish_poll_ms: 200,
  run_beat_ms: 5_000,
  agent_look_ms: 1_000,
  /** A run that was not heard of for so long, and whose program is gone, has lost whoever watched it. */
  run_silence_ms: 50_000,
  /** A task that nobody says to be at work on is left alone for so long: somebody may be about to say it. */
  unwatched_ms: 10_000,
  /** How often what is ready is looked for, and what others left when they were killed. */
  dispatch_poll_ms: 500,
  recover_ms: 2_000,
  /** How often folders whose time has come are looked for. */
  cleanup_ms: 60_000,
  /** How long a task waits after its first failed run, and at most; twice as long with each. */
  retry_first_ms: 30_000,
  retry_last_ms: 900_000,
  /** What was spent before that counts no more. */
  budget_window_ms: 86_400_000,
  /** How often a checkout is looked at again that has changed, until a merge explains it. */
  checkout_looks: 3,
  /** How often it is tried to build walls around a program. */
  walls_tries: 5,
  /** Of opencode's own database, which its agent can change; a larger one is not read. */
  opencode_database_bytes: 1_073_741_824,
  /** Tasks that one look for ready ones takes in. */
  scheduler_ready: 1_000,
  /** So many of the tasks are told that are ready and cannot be started: a spent budget stops all of them. */
  dispatch_halted: 5,
  /** How often a picture on a terminal is drawn at most, and at least while something is at work. */
  screen_redraw_ms: 100,
  screen_clock_ms: 500,
  /** A task that nothing was heard of for so long, and that nobody works on, leaves the picture. */
  screen_row_rest_ms: 1_500,
  /** How long `forge runs stop` waits for the end of a run. */
  run_stop_ms: 30_000,
  /** How long what was said of its size stands while nobody works there, and how long all looks before a start take. */
  folder_size_ms: 600_000,
  disk_look_ms: 2_000,
  /** How long a server tells the size of a worktree without measuring it again, and how many files it counts for that. */
  folder_size_told_ms: 10_000,
  workspace_entries: 2_000_000,
  /** Of the file of a wish, where the number of an issue is looked for. */
  wish_bytes: 65_536,
  /** How often a merge looks whether it is its turn, and for others whose process is gone. How long one that was postponed rests, twice as long each time; how often it begins anew. */
  merge_poll_ms: 100,
  merge_settle_ms: 1_000,
  merge_again_first_ms: 1_000,
  merge_again_last_ms: 60_000,
  merge_tries: 10,
  /** Subtasks of one plan, findings of one verdict that a person gives, and attempts at one task side by side. */
  plan_subtasks: 100,
  verdict_findings: 100,
  side_attempts: 20,
  /** Of all diffs together that a reviewer is shown who chooses between them. */
  pick_diff_length: 200_000,
  /** Agents at work at once, whatever somebody asks for. */
  scheduler_max: 200,
  /** Of what failed, in the reason of a move. */
  reason_tail_length: 1_000,
  /** Of what happened to a task, so many entries are searched for a change of its text. */
  prompt_history: 200,
  /** Of what an agent asks permission for, in the inbox. */
  inbox_message_length: 2_000,
  workflow_states: 100,
  state_name_length: 60,
  hooks_per_phase: 50,
  /** Of `.forge/config.json`, and of the text of a workflow; a larger file is refused before it is read. */
  config_bytes: 1_048_576,
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
  /** Clocks of machines that a store remembers while claims hold. */
  lease_clocks: 16,
  /** How often a process that stays looks whether it was stopped, and how long it must have been. */
  wake_tick_ms: 250,
  stop_noticed_ms: 1_000,
  /** Pages of SQLite's log before they are moved to the database. */
  checkpoint_pages: 4_000,
  event_list: 10_000,
  /** A longer field that did not change is left out of the row that an event carries. */
  event_field_length: 1_024,
  /** Of SQLite's log, once what is in it was moved to the database. */
  wal_bytes: 16_777_216,
  /** How often a move is tried again when the task changes while its guards run. */
  move_tries: 5,
  /** How long `forge task wait` may take, and takes unless told; most MCP hosts give up after a minute. */
  wait_seconds: 3_600,
  wait_default_seconds: 30,
  /** Waits of one token, or of one run, at the same time, and of all on a server. */
  waits_a_token: 50,
  waits: 200,
  /** Comments and moves in a task's result. */
  result_entries: 1_000,
  result_default_entries: 5,
  /** Projects that one token may be limited to, and how long an agent's token is good unless told. */
  token_projects: 100,
  agent_token_days: 90,
  /** Sessions of `POST /mcp` at once, those of one token (the most silent one is ended for the next), and how long one may be silent. */
  mcp_sessions: 200,
  mcp_sessions_a_token: 50,
  mcp_session_idle_ms: 1_800_000,
  /** Objects, lists and what stands in them: more in one body would hold up other requests while it is read. */
  body_values: 25_000,
  /** Keys of all objects in one body, which cost ten times as much as other values. */
  body_keys: 5_000,
  /** Larger bodies are parsed one in each turn of the event loop. */
  quick_body_bytes: 65_536,
  /** One message to `POST /mcp`: a description of the largest size, escaped. */
  mcp_body_bytes: 8_388_608,
  mcp_body_depth: 72,
  /** A longer result of a tool stands in its text alone, and not once more as structured content. */
  mcp_structured_length: 65_536,
  /** Tasks that `resources/list` names. */
  mcp_resources: 50,
  /** A page of a list ends early when its rows take so much; what has no pages, and takes more than that, is refused. */
  answer_page_bytes: 4_194_304,
  answer_bytes: 16_777_216,
  /** What is written of an answer before other requests are served. */
  answer_turn_bytes: 262_144,
  /** Of the data of all events that are asked for at once. */
  event_list_bytes: 33_554_432,
  /** Rows that a list is read in at once: at first, of a page, and of a list that is asked for as a whole. */
  answer_first_rows: 16,
  answer_page_rows: 100,
  answer_list_rows: 1_000,
  /** What a list of a server reads of the store, or a search looks at, before other requests are served. */
  list_read_bytes: 16_777_216,
  /** How long may an answer of a server be that `forge --server` asks. */
  remote_answer_bytes: 268_435_456,
  /** How long a command waits for another writer, unless FORGE_LOCK_TIMEOUT_MS says otherwise. */
  lock_timeout_ms: 60_000,
  /** How long a command that only reads waits for another process before it answers without what the files bring. */
  read_lock_ms: 50,
  /** So much of that at once: whoever has the lock may be another part of the same process, and needs its turn. */
  lock_slice_ms: 250,
  /** The same for a lock that is a file, and for the folder of an attempt that another process works in. */
  file_lock_ms: 10_000,
  folder_lock_ms: 15_000,
  /** How long the answer of a request with an Idempotency-Key is kept. */
  idempotency_ms: 86_400_000,
  /** How long what a command said of a tree stands for running it. */
  step_cache_ms: 604_800_000,
  /** Versions of the task file that are read to find what a deleted task held. */
  restore_versions: 1_000,
  /** Commits of unmerged attempts, and as many on top, whose changes of task files are told apart; of more, unclear lines are kept out. */
  attempt_file_commits: 500,
  /** Branches that are looked at for a project or its tasks, those that moved last first. */
  branches_searched: 5_000,
  /** Of the branches that a remote names and this clone never fetched, so many are fetched to look for a project. */
  branches_fetched: 5,
  /** How long a remote may take to name its branches where the answer is not needed. */
  remote_look_ms: 5_000,
  /** One git of ours on an attempt; the second for those that write or read a whole working tree. */
  git_ms: 60_000,
  git_checkout_ms: 600_000,
  /** How long the files that an agent left may still be looked at when Forge was told to end. */
  harvest_grace_ms: 10_000,
  /** How long a signature may take, a hook of the user's repository, and a push of what has landed. */
  git_sign_ms: 15_000,
  git_hook_ms: 120_000,
  git_push_ms: 120_000,
  /** How long a push that failed waits until it is tried again, and at most; twice as long with each. */
  push_first_ms: 30_000,
  push_last_ms: 3_600_000,
  /** How long what was read of the user's git configuration counts, and how much of what git said of its objects. */
  control_fresh_ms: 2_000,
  git_answers: { kept: 200, bytes: 65_536 },
  /** How long the user's own git may hold an index that a merge has to change. */
  index_lock_ms: 10_000,
  /** How long another process may hold the lock of a branch while a landing holds the user's index. */
  landing_ref_lock_ms: 30,
  /** Tries of a landing that hold the user's index only at their end; later ones hold it from their beginning. */
  landing_light_tries: 6,
  /** How long a landing waits for the user's own gits in the checkout to end; one with an open editor does not. */
  landing_quiet_ms: 2_000,
  /** How long after a landing it is looked whether a git that had begun before has undone it; if it is still at work. */
  landing_settle_ms: 190,
  landing_settle_last_ms: 3_000,
  /** How often a landing is made again that git has moved back; how long a broken one is waited for, before the next command has it. */
  landing_repeats: 5,
  landing_heal_ms: 1_000,
  /** How long a write that takes a task away waits for its checks or merge, one about to land, and a merge for a checkout. */
  gate_end_ms: 8_000,
  landing_wait_ms: 15_000,
  landing_busy_ms: 120_000,
  /** How long a task whose merge has landed is kept for the process that moves it on. */
  landed_move_ms: 60_000,
  /** Of the HEAD of a checkout; no name of a branch is longer. */
  head_bytes: 4_096,
  /** Of a file that git keeps for itself, or of one with a conflict in it; a larger one is not read. */
  git_file_bytes: 268_435_456,
  /** A larger file that nobody tracks is not committed for an agent. */
  attempt_file_bytes: 104_857_600,
  /** Changed files of the user's own checkout whose sizes and times are compared around a run; how long a look takes, and serves. */
  checkout_files: 5_000,
  checkout_look_ms: 10_000,
  checkout_age_ms: 1_000,
  /** Names in one refusal; what goes beyond is counted. */
  attempt_files_named: 20,
  /** Tries at one id length, and odds of a collision that a growing project accepts, before ids get longer. */
  id_tries: 30,
  id_collision_odds: 0.01,
  /** Lines without stamps of which git's history is asked what stood in their place; of more than so many the last look tells. */
  asked_lines: 5_000,
  /** A git hook waits no longer than this for another writer, and leaves larger task files to the next command. */
  hook_lock_timeout_ms: 1_500,
  hook_file_bytes: 16_777_216,
  /** From this size on, versions of a task file are counted in git's store of objects, and packed when they have come to so much. */
  large_file_bytes: 1_048_576,
  loose_blob_bytes: 50_331_648,
  /** A server joins small task files in itself, others by a process of its own: 800 lines of one task took 15 s. */
  server_fold_bytes: 65_536,
  server_fold_lines: 20,
  /** Bytes of events that wait for one reader; it gets no more until it has read some of them. */
  event_waiting_bytes: 65_536,
  /** A reader that takes nothing for so long while events wait for it is cut; it can go on where it was. */
  event_stall_ms: 10_000,
  event_heartbeat_ms: 15_000,
  /** Streams of one token: fewer than a server has sockets, so that other clients get one. */
  event_streams_a_token: 10_000,
  /** Events that are kept in memory for those who follow; older ones are read from the store. */
  event_window_rows: 2_000,
  event_window_bytes: 4_194_304,
  /** Events that are read from the store in one look. */
  event_page_rows: 200,
  /** How long a server that is told to stop waits for requests to end. */
  server_stop_ms: 10_000,
  /** Of a server's space for new objects, from which on it grows no more. */
  server_young_bytes: 16_777_216,
  /** A longer line of a task file is refused: it cannot have been written by Forge. */
  file_line_bytes: 67_108_864,
  /** Changes of one fold that have an event each; what goes beyond is told in one. */
  fold_events: 1_000,
  /** Edits by hand that a task remembers, so that none is taken in twice; each takes some thirty bytes of its line. */
  hand_edits: 32,
  /** Replaced values of one field that a task remembers, so that none of them is told as lost; forty bytes each. */
  replaced_values: 64,
  /** A change that is further ahead of this clock was made by a wrong one. */
  clock_skew_ms: 300_000,
  /** How long an agent may take to end itself when its work is done, and when it is asked to stop. */
  agent_file_bytes: 10_485_760,
  setting_key_length: 200,
  setting_value_length: 65_536,
  /** What one run may create: more is no plan that a person reads. */
  run_created_tasks: 50,
  /** A session that says nothing for so long but that it connects again is ended. */
  reconnect_ms: 300_000,
  agent_exit_ms: 5_000,
  agent_interrupt_ms: 3_000,
  /** What an agent says in pieces is shown when it pauses for so long. */
  agent_pause_ms: 300,
  /** How long an agent waits that is out of quota where its provider does not say how long. */
  usage_limit_retry_ms: 900_000,
  /** How long an agent is suspended after its first fault, and at most; twice as long with each in a row. */
  fault_first_ms: 30_000,
  fault_last_ms: 900_000,
  /** How often a reviewer may fail to give a verdict on one commit before a person is asked for it. */
  audit_tries: 3,
  /** What is kept of what an agent said last. */
  last_message_length: 65_536,
  /** The log of one run: its beginning and its end are kept, half of the room each. */
  log_bytes: 67_108_864,
  log_line_bytes: 1_048_576,
  /** Of one entry, so many texts, and so many characters of them, are looked at for secrets; entries of one line of an agent. */
  log_entry_texts: 10_000,
  log_entry_length: 262_144,
  agent_line_entries: 1_000,
  /** Lines of output that come together are one entry, up to so many characters. */
  output_entry_length: 16_384,
  log_page_lines: 10_000,
  log_page_default: 1_000,
  log_page_bytes: 4_194_304,
  /** A file of recorded trajectories. */
  script_bytes: 8_388_608,
  /** How long an agent CLI may take to say its version and to answer a handshake. */
  cli_probe_ms: 15_000,
  /** Stamps from the year 2200 on are not times but damage. */
  stamp_max_ms: 7_258_118_400_000,
  /** How long a program may take from its start until everything that holds it stands. */
  run_start_ms: 30_000,
  /** An empty control group of a run that is older is nobody's. */
  empty_group_ms: 600_000,
  /** Between SIGTERM and SIGKILL; then how long until what was killed is gone, and until its pipes are read. */
  run_grace_ms: 5_000,
  run_kill_ms: 5_000,
  run_drain_ms: 5_000,
  /** A longer line of a program's output is cut: base64 of a screenshot fits. */
  run_line_bytes: 8_388_608,
  run_stderr_tail_bytes: 8_192,
  /** How often the processes of a run are looked at. */
  run_sample_ms: 250,
  /** Below the ports that systems hand out; and ports of one block. */
  port_first: 20_000,
  port_last: 32_000,
  port_block: 100,
  /** Shorter secrets are words that occur anywhere, and blotting those out would tell where the secret is. */
  secret_min_length: 8,
  /** What is looked at beyond the part of a long text that is kept, so that a secret at the cut is seen whole. */
  secret_beyond_length: 16_384,
  /** Longer secrets are looked for in pieces of this length, which bounds what is held back. */
  secret_piece_length: 512,
} as const;
