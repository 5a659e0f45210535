#!/usr/bin/env bash
# The requests of the product's own documents, as they print them, with a real address and token in the places that
# they leave open. Prints a line for each: its name, the status, the body.
#
# Needs: BASE (http://127.0.0.1:8080), TOKEN, PROJECT (a prefix), AGENT (a registered agent).
set -euo pipefail

say() {
  printf '%s\t%s\n' "$1" "$2"
}

# Adding -w keeps the request as it is printed and shows the status behind the body.
ask() {
  curl -sS -w ' %{http_code}' "$@"
}

id_of() {
  sed -E 's/.*"id":"([^"]+)".*/\1/' <<<"$1"
}

created=$(ask -X POST "$BASE/api/v1/projects/$PROJECT/tasks" \
  -H 'content-type: application/json' \
  -H "Authorization: Bearer $TOKEN" \
  -d '{
"title": "Add rate limiting",
"description": "Add per-IP rate limiting to POST /api/v1/auth/login.",
"review_config": {
"ci_steps": ["cargo test -p api --test auth"]
}
}')
say create "$created"
task_id=$(id_of "$created")

other=$(ask -X POST "$BASE/api/v1/projects/$PROJECT/tasks" \
  -H 'content-type: application/json' \
  -H "Authorization: Bearer $TOKEN" \
  -d '{"title": "Write the limiter"}')
other_task_id=$(id_of "$other")

say depend "$(ask -X POST "$BASE/api/v1/tasks/$task_id/dependencies" \
  -H 'content-type: application/json' \
  -H "Authorization: Bearer $TOKEN" \
  -d "{ \"depends_on_id\": \"$other_task_id\" }")"

say dependencies "$(ask "$BASE/api/v1/tasks/$task_id/dependencies" -H "Authorization: Bearer $TOKEN")"

say claim-gated "$(ask -X POST "$BASE/api/v1/tasks/$task_id/claim" \
  -H 'content-type: application/json' \
  -H "Authorization: Bearer $TOKEN" \
  -d "{\"agent_id\": \"$AGENT\", \"overrides\": null}")"

say claim "$(ask -X POST "$BASE/api/v1/tasks/$other_task_id/claim" \
  -H 'content-type: application/json' \
  -H "Authorization: Bearer $TOKEN" \
  -d "{\"agent_id\": \"$AGENT\", \"overrides\": null}")"

say transition "$(ask -X POST "$BASE/api/v1/tasks/$other_task_id/transition" \
  -H 'content-type: application/json' \
  -H "Authorization: Bearer $TOKEN" \
  -d '{"status": "review", "version": 2}')"

say transition-stale "$(ask -X POST "$BASE/api/v1/tasks/$other_task_id/transition" \
  -H 'content-type: application/json' \
  -H "Authorization: Bearer $TOKEN" \
  -d '{"status": "blocked", "version": 1}')"

say reassign-reset "$(ask -X POST "$BASE/api/v1/tasks/$other_task_id/roles/coder" \
  -H 'content-type: application/json' \
  -H "Authorization: Bearer $TOKEN" \
  -d "{\"agent_id\": \"$AGENT\", \"reset_worktree\": true}")"

say reassign "$(ask -X POST "$BASE/api/v1/tasks/$other_task_id/roles/coder" \
  -H 'content-type: application/json' \
  -H "Authorization: Bearer $TOKEN" \
  -d '{"agent_id": "another"}')"

say cancel "$(ask -X POST "$BASE/api/v1/tasks/$other_task_id/cancel" \
  -H 'content-type: application/json' -H "Authorization: Bearer $TOKEN" -d '{}')"

say archive "$(ask -X POST "$BASE/api/v1/tasks/$other_task_id/archive" \
  -H 'content-type: application/json' -H "Authorization: Bearer $TOKEN" -d '{}')"

say list "$(ask "$BASE/api/v1/tasks?project=$PROJECT" -H "Authorization: Bearer $TOKEN")"

say list-archived "$(ask "$BASE/api/v1/tasks?project=$PROJECT&all=true&include_archived=true" \
  -H "Authorization: Bearer $TOKEN")"

say transitions "$(ask "$BASE/api/v1/tasks/$other_task_id/transitions" -H "Authorization: Bearer $TOKEN")"

say mcp "$(ask -X POST "$BASE/mcp" \
  -H 'content-type: application/json' \
  -H 'accept: application/json, text/event-stream' \
  -H "Authorization: Bearer $TOKEN" \
  -d '{
"jsonrpc": "2.0", "id": 1,
"method": "tools/call",
"params": {
"name": "forge_create_task",
"arguments": {
"title": "Add rate limiting",
"description": "Add per-IP rate limiting to POST /api/v1/auth/login."
}
}
}')"
