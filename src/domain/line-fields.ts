/** What a line of a task says in plain values. */
export const LINE_FIELDS = [
  'id',
  'title',
  'description',
  'status',
  'state',
  'close_reason',
  'priority',
  'type',
  'assignee',
  'parent_id',
  'github_issue',
  'created_at',
  'created_by',
  'updated_at',
  'closed_at',
] as const;
