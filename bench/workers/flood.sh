#!/bin/bash
# An agent that writes a megabyte a second, a quarter of it at a time, in lines of 200 bytes, without starting anything;
# as soon as the file that it is given is there. What it had to wait for its reader it makes up for.
line=$(printf 'x%.0s' {1..199})
printf -v chunk "$line\n%.0s" {1..1311}
exec 9<> <(:)
until [ -e "$1" ]; do read -t 0.25 -u 9; done
next=${EPOCHREALTIME/[.,]/}
for ((;;)); do
  printf '%s' "$chunk"
  ((next += 250000, rest = next - ${EPOCHREALTIME/[.,]/}))
  if ((rest > 0)); then
    printf -v rest '0.%06d' "$rest"
    read -t "$rest" -u 9
  fi
done
