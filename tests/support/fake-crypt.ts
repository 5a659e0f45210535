import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A stand-in for git-crypt: its commands find their key in the git directory of the repository that they run in, encrypt
 * on the way in and decrypt on the way out, and refuse to work without the key. What it has not encrypted passes on the
 * way out, as with the real one.
 */
export function writeFakeCrypt(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'fake-crypt');
  writeFileSync(
    program,
    `#!/bin/sh
key="$(git rev-parse --absolute-git-dir)/fake-crypt-key"
[ -f "$key" ] || { echo "fake-crypt: no key in $key" >&2; exit 1; }
case "$1" in
  clean) printf 'FAKECRYPT\\n'; base64 -w0 | tr 'A-Za-z' 'N-ZA-Mn-za-m' ;;
  smudge)
    input="$(mktemp)"; cat > "$input"
    if [ "$(head -c 9 "$input")" = FAKECRYPT ]; then tail -n +2 "$input" | tr 'A-Za-z' 'N-ZA-Mn-za-m' | base64 -d; else cat "$input"; fi
    rm -f "$input" ;;
esac
`,
  );
  chmodSync(program, 0o755);
  return program;
}

/** A filter that speaks git's protocol for a process that stays: it turns letters by thirteen, both ways. */
export function writeFilterProcess(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'filter-process.cjs');
  writeFileSync(
    program,
    `
const fs = require('node:fs');
const take = (size) => {
  const bytes = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const got = fs.readSync(0, bytes, at, size - at);
    if (got === 0) process.exit(0);
    at += got;
  }
  return bytes;
};
const packet = () => {
  const size = parseInt(take(4).toString(), 16);
  return size === 0 ? undefined : take(size - 4);
};
const list = () => {
  const all = [];
  for (let one = packet(); one !== undefined; one = packet()) all.push(one);
  return all;
};
const put = (...lines) => {
  for (const line of lines) {
    const bytes = Buffer.from(line);
    fs.writeSync(1, (bytes.length + 4).toString(16).padStart(4, '0'));
    fs.writeSync(1, bytes);
  }
  fs.writeSync(1, '0000');
};
const turn = (text) =>
  text.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 97 + 13) % 26) + 97));
list();
put('git-filter-server\\n', 'version=2\\n');
list();
put('capability=clean\\n', 'capability=smudge\\n');
for (;;) {
  list();
  const content = Buffer.concat(list()).toString();
  put('status=success\\n');
  put(turn(content));
  put();
}
`,
  );
  return program;
}
