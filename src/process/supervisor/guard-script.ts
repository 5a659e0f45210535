/**
 * Reads what runs there are from its standard input, a line each, and at the end of it, which is the end of the
 * watcher, kills all that is left of them, again and again until nothing is found. A shell, because it costs a
 * megabyte; one for all runs of a watcher. It ends by itself, after ten seconds at the latest.
 *
 * `+ <key> <pid> <start> <NAME=value> <group folder or ->` begins a run, `- <key>` ends it. Found are: everything in
 * the group; the session of the process (where it is the same one still) and all descendants; everything that carries
 * the mark. On systems without /proc the group of processes stands for the session, and `ps` is asked.
 */
export const GUARD_SCRIPT = String.raw`
trap '' HUP INT TERM QUIT PIPE TSTP TTIN TTOU
keys=
while read -r sign key pid start mark folder; do
  case $sign in
  +) keys="$keys $key"; eval "pid_$key=\$pid start_$key=\$start mark_$key=\$mark folder_$key=\$folder" ;;
  -) rest=; for one in $keys; do [ "$one" = "$key" ] || rest="$rest $one"; done; keys=$rest ;;
  esac
done
[ -n "$keys" ] || exit 0
roots=
for key in $keys; do
  eval "roots=\"\$roots \$pid_$key:\$start_$key\"; set -- \"\$@\" \"\$mark_$key\""
done

table() {
  if [ -d /proc/self ]; then
    cat /proc/[0-9]*/stat 2>/dev/null | awk '
      # The name in parentheses may hold anything, also the end of a line.
      { line = line $0 " " }
      line !~ /\) [A-Za-z] [0-9]+ [0-9-]+ [0-9-]+ / { next }
      { pid = line + 0; sub(/^.*\) /, "", line); split(line, at, " "); print pid, at[1], at[2], at[4], at[20]; line = "" }'
  else
    ps -A -o pid=,state=,ppid=,pgid= | awk '{ print $1, substr($2, 1, 1), $3, $4, 0 }'
  fi
}

marked() {
  if [ -d /proc/self ]; then
    for mark in "$@"; do
      grep -lszxF -e "$mark" /proc/[0-9]*/environ 2>/dev/null
    done | awk -F/ '{ print $3 }'
  else
    for mark in "$@"; do
      ps -A -E -ww -o pid=,command= | awk -v mark=" $mark " 'index($0 " ", mark) { print $1 }'
    done
  fi
}

members() {
  found=$(marked "$@" | tr '\n' ' ')
  table | awk -v roots="$roots" -v found="$found" -v self="$$" '
    $2 != "Z" && $2 != "X" { parent[$1] = $3; session[$1] = $4 }
    { start[$1] = $5 }
    END {
      n = split(roots, root, " ")
      for (i = 1; i <= n; i++) {
        split(root[i], one, ":")
        if (one[1] in start && start[one[1]] != 0 && one[2] != 0 && start[one[1]] != one[2]) continue
        for (pid in session) if (pid == one[1] || session[pid] == one[1]) is[pid] = 1
      }
      n = split(found, root, " ")
      for (i = 1; i <= n; i++) if (root[i] in session) is[root[i]] = 1
      do {
        more = 0
        for (pid in parent) if (!(pid in is) && (parent[pid] in is)) { is[pid] = 1; more = 1 }
      } while (more)
      delete is[self]
      for (pid in is) print pid
    }'
}

round=0
while [ $round -lt 200 ]; do
  left=
  for key in $keys; do
    eval "folder=\$folder_$key"
    [ -n "$folder" ] && [ "$folder" != - ] && [ -d "$folder" ] || continue
    echo 1 > "$folder/cgroup.kill"
    kill -9 $(cat "$folder/cgroup.procs")
    find "$folder" -depth -type d -exec rmdir {} \;
    [ -d "$folder" ] && left=1
  done
  pids=$(members "$@")
  if [ -n "$pids" ]; then left=1; kill -9 $pids; fi
  [ -z "$left" ] && exit 0
  sleep 0.05 || sleep 1
  round=$((round + 1))
done
`;
