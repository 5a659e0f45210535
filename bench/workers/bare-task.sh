#!/bin/bash
# One task without Forge: a worktree, the agent, a commit, the check, then in turn with the others the merge, the check
# of what it gives, and the branch moved; at last the worktree goes. Arguments: the number, the folder for worktrees,
# the file with the agent's steps, the check, and the agent's command line. Started in the repository.
set -eu
number=$1 root=$2 steps=$3 check=$4
shift 4
repository=$PWD
tree=$root/bare-$number
git worktree add --quiet -b "bare-$number" "$tree" main
cd "$tree"
"$@" < "$steps" > "$root/bare-$number.log"
git add --all
git commit --quiet --no-verify --message "Task $number"
bash -c "$check" >> "$root/bare-$number.log"
exec 9> "$root/queue.lock"
flock 9
merged=$(git merge-tree --write-tree main HEAD)
commit=$(git commit-tree "$merged" -p main -p HEAD -m "Merge bare-$number")
git checkout --quiet --detach "$commit"
bash -c "$check" >> "$root/bare-$number.log"
git -C "$repository" merge --quiet --ff-only "$commit"
exec 9>&-
cd "$repository"
git worktree remove --force "$tree"
git branch --quiet -D "bare-$number"
