import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationContext } from './operation.ts';
import { shellCompletion } from './shell-completion.ts';

type Shell = 'bash' | 'zsh' | 'fish';
/** In a constant of a wider type: a literal would be taken for a program that this package has to bring. */
const FISH: string = 'fish';
const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;

let folder = '';
const env = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${folder}:${process.env['PATH'] ?? ''}`,
  HOME: folder,
  ZDOTDIR: folder,
  TERM: 'xterm',
});

/** A stand-in for the program: answers as `task list --json --fields id` does and writes down how it was called. */
const PROGRAM = `#!/bin/sh
echo "$0 $*" >> "$(dirname "$0")/calls"
case "$*" in
  *broken*) echo 'forge: Not a Forge project' >&2; exit 5 ;;
  *) printf '[{"id":"fg-a3f8"},{"id":"fg-b2c1"}]\\n' ;;
esac
`;

async function scriptOf(shell: Shell): Promise<string> {
  // No context is used: the script depends on the declarations alone.
  const output = await shellCompletion.run({} as OperationContext, { shell });
  return `${shellCompletion.text(output, { color: false, columns: 80, now: 0 })}\n`;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forge-completion-'));
  for (const name of ['forge', 'forge-ctl']) {
    await writeFile(join(folder, name), PROGRAM);
    await chmod(join(folder, name), 0o755);
  }
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    await writeFile(join(folder, `script.${shell}`), await scriptOf(shell));
});
afterAll(() => rm(folder, { recursive: true }));

/** Words typed, the last of them still open → what is offered. Every shell must agree. */
const CASES: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [
    ['forge', 't'],
    ['task', 'token', 'trust'],
  ],
  [['forge-ctl', 'comp'], ['completion']],
  [
    ['forge', 'dep', ''],
    ['add', 'list', 'remove', 'tree'],
  ],
  [['forge', 'task', 'cr'], ['create']],
  [
    ['forge', 'help', 'dep', ''],
    ['add', 'list', 'remove', 'tree'],
  ],
  [['forge', '--json', 'ta'], ['task']],
  [['forge', 'task', 'create', '--ty'], ['--type']],
  [
    ['forge', 'task', 'create', '--type', ''],
    ['bug', 'epic', 'feature', 'message', 'task'],
  ],
  [['forge', 'task', 'create', '--type', 'b'], ['bug']],
  [
    ['forge', 'task', 'list', '--priority', ''],
    ['0', '1', '2', '3', '4'],
  ],
  [
    ['forge', 'completion', ''],
    ['bash', 'fish', 'zsh'],
  ],
  [
    ['forge', 'task', 'show', ''],
    ['fg-a3f8', 'fg-b2c1'],
  ],
  [['forge', 'claim', 'fg-a'], ['fg-a3f8']],
  [
    ['forge-ctl', 'dep', 'add', 'fg-a3f8', ''],
    ['fg-a3f8', 'fg-b2c1'],
  ],
  [
    ['forge', 'task', 'list', '--parent', ''],
    ['fg-a3f8', 'fg-b2c1', 'none'],
  ],
  [['forge', '-C', 'elsewhere', 'task', 'show', 'fg-b'], ['fg-b2c1']],
  [['forge', 'batch', 'add', 'name', 'fg-a'], ['fg-a3f8']],
  [
    ['forge', 'batch', 'add', 'name', 'fg-a3f8', 'x', ''],
    ['fg-a3f8', 'fg-b2c1'],
  ],
];

describe('forge completion', () => {
  it.each(['bash', 'zsh', 'fish'] as const)('answers with the script of %s as data too', async (shell) => {
    const output = await shellCompletion.run({} as OperationContext, { shell });
    expect(output).toEqual({ shell, script: expect.stringContaining('forge-ctl') as string });
  });
});

describe.skipIf(!has('bash'))('in bash (needs bash)', () => {
  const complete = (words: readonly string[], before = 'true') => {
    const script = `${before}; source ${folder}/script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _forge; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], {
      env: env(),
      cwd: folder,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .toSorted();
  };
  it.each(CASES)('%j', (words, offered) => {
    expect(complete(words)).toEqual(offered);
  });
  it('is registered for both names', () => {
    const { stdout } = spawnSync(
      'bash',
      ['--norc', '-c', `source ${folder}/script.bash; complete -p forge forge-ctl`],
      { encoding: 'utf8' },
    );
    expect(stdout).toBe('complete -F _forge forge\ncomplete -F _forge forge-ctl\n');
  });
  it('reads --flag=value, which bash hands over in pieces', () => {
    expect(complete(['forge', 'task', 'create', '--type', '=', 'b'])).toEqual(['bug']);
    expect(complete(['forge', 'task', 'create', '--type', '='])).toEqual([
      'bug',
      'epic',
      'feature',
      'message',
      'task',
    ]);
  });
  it('offers files and folders', () => {
    expect(complete(['forge', 'task', 'create', 'x', '--description-file', 'script.b'])).toEqual([
      'script.bash',
    ]);
    expect(complete(['forge', '-C', 'script.b'])).toEqual([]);
  });
  it('offers nothing behind the last argument, and no flags behind --', () => {
    expect(complete(['forge', 'dep', 'add', 'a', 'b', ''])).toEqual([]);
    expect(complete(['forge', 'task', 'create', '--', '--ty'])).toEqual([]);
    expect(complete(['forge', 'xyzzy', ''])).toEqual([]);
  });
  it('is silent where there is no project', () => {
    expect(complete(['forge', '-C', 'broken', 'task', 'show', ''])).toEqual([]);
  });
  it('works under set -u', () => {
    expect(complete(['forge', 'task', 'show', 'fg-a'], 'set -u')).toEqual(['fg-a3f8']);
  });
  it('asks the program that was typed, in the folder that was typed', async () => {
    await rm(join(folder, 'calls'), { force: true });
    complete(['forge-ctl', '-C', 'sub', 'task', 'reopen', '']);
    expect(await readFile(join(folder, 'calls'), 'utf8')).toBe(
      `${folder}/forge-ctl -C sub task list --json --fields id --status closed\n`,
    );
  });
});

describe.skipIf(!has(FISH))('in fish (needs fish)', () => {
  const complete = (line: string) => {
    const { stdout, stderr } = spawnSync(
      FISH,
      ['--no-config', '-c', `source ${folder}/script.fish; complete -C "${line}"`],
      { env: env(), cwd: folder, encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    return stdout
      .split('\n')
      .flatMap((one) => (one === '' ? [] : [one.split('\t')[0] ?? '']))
      .toSorted();
  };
  it.each(CASES)('%j', (words, offered) => {
    expect(complete(words.join(' '))).toEqual(offered);
  });
  it('reads --flag=value', () => {
    expect(complete('forge task create --type=b')).toEqual(['--type=bug']);
  });
  it('offers files', () => {
    expect(complete('forge task create x --description-file script.b')).toEqual(['script.bash']);
  });
  it('offers nothing behind the last argument', () => {
    expect(complete('forge dep add a b ')).toEqual([]);
    expect(complete('forge help ready ')).toEqual([]);
  });
});

/**
 * zsh completes only at a prompt, so it gets one: a pseudo-terminal of its own, keys typed into it, and a compadd
 * that writes down what it was given. All lines in one session, because starting the completion takes longest.
 */
const ZSH_SESSION = `
zmodload zsh/zpty
zpty z 'zsh -f -i'
zpty -w z "PS1=; autoload -U compinit; compinit -D -u; $LOAD
compadd() {
  if [[ \\"\\$*\\" == *-(O|A|D)\\ * ]]; then builtin compadd \\"\\$@\\"; return; fi
  local -a hits; builtin compadd -A hits \\"\\$@\\"; print -rl -- \\$hits >> $HITS; builtin compadd \\"\\$@\\"
}
finish() { print -r -- END >> $HITS; zle kill-buffer; zle -R }
zle -N finish; bindkey '^G' finish; bindkey -e; bindkey '^G' finish; print READY"
zpty -r z line '*READY*READY*'
for line in "$@"; do
  : > $HITS
  zpty -w -n z "$line"$'\\t'
  for i in {1..100}; do [[ -s $HITS ]] && break; sleep 0.02; done
  zpty -w -n z $'\\C-g'
  for i in {1..100}; do grep -q END $HITS && break; sleep 0.02; done
  print -r -- "$(grep -v -e END $HITS | sort -u | tr '\\n' ' ')"
done
zpty -d z
`;

describe.skipIf(!has('zsh'))('in zsh (needs zsh)', () => {
  const complete = (lines: readonly string[], load: string): readonly (readonly string[])[] => {
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', ZSH_SESSION, 'zsh', ...lines], {
      env: { ...env(), HITS: join(folder, 'hits'), LOAD: load },
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(stderr).toBe('');
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) =>
        line
          .split(' ')
          .filter((word) => word !== '')
          .toSorted(),
      );
  };
  it('completes the same', { timeout: 60_000 }, () => {
    const lines = CASES.map(([words]) => words.join(' '));
    expect(complete(lines, `source ${folder}/script.zsh`)).toEqual(CASES.map(([, offered]) => offered));
  });
  it('works from $fpath too', { timeout: 60_000 }, async () => {
    await writeFile(join(folder, '_forge'), await scriptOf('zsh'));
    expect(
      complete(['forge task cr', 'forge-ctl claim fg-a'], `fpath=(${folder} \\$fpath); compinit -D -u`),
    ).toEqual([['create'], ['fg-a3f8']]);
  });
});
