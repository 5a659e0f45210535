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
