import { type ForgeProgram, quoteForShell } from '../forge-program.ts';

/** The hooks that Forge has a block in. */
export const HOOK_NAMES = ['pre-commit', 'post-merge', 'post-checkout', 'post-rewrite'] as const;
export type HookName = (typeof HOOK_NAMES)[number];

/**
 * Where another program writes the hooks, now or from some day on, it writes them anew from time to time (husky with every
 * `npm install`), and Forge is out of them. No such program knows this hook, which git runs whenever it has written its index, so also
 * before the hooks of a commit: it puts Forge back.
 */
export const KEEPER_HOOK = 'post-index-change';

export const OWN_SHEBANG = '#!/bin/sh\n';

const BEGIN = '# >>> forge >>>';
const END = '# <<< forge <<<';
/** A begin without an end does not reach over the next begin: what stands between is the user's. */
const BLOCK = new RegExp(`^${BEGIN}[^\\n]*\\n(?:(?!^${BEGIN})[^])*?^${END}[^\\n]*(?:\\n|$(?![^]))`, 'gm');
const MARKER = new RegExp(`^(?:${BEGIN}|${END})`, 'm');

/**
 * What git runs for us. Nothing in it can fail the git command or eat the standard input of what follows
 * (post-rewrite gets its list there), and the git commands that Forge runs inside a hook do not start it again.
 * Hook files are handled as latin1, which keeps every byte of theirs; so is this.
 */
export function toBlock(hook: HookName, program: ForgeProgram): string {
  const node = quoteForShell(program.node);
  const script = quoteForShell(program.script);
  const lines = [
    `${BEGIN} written by forge hooks install, removed by forge hooks uninstall`,
    `if [ -z "\${FORGE_HOOK-}" ] && [ -x ${node} ] && [ -f ${script} ]; then`,
    `  FORGE_HOOK=${hook} ${node} ${script} hook ${hook} "$@" </dev/null || true`,
    'fi',
    END,
  ];
  return Buffer.from(`${lines.join('\n')}\n`, 'utf8').toString('latin1');
}

/** What stands in the keeper: one look by the shell, and Forge is started only where its block is gone. */
export function toKeeperBlock(program: ForgeProgram): string {
  const node = quoteForShell(program.node);
  const script = quoteForShell(program.script);
  const lines = [
    `${BEGIN} written by forge hooks install, removed by forge hooks uninstall`,
    '# Other programs write the hooks beside this one anew; this puts Forge back before the next commit.',
    `if [ -z "\${FORGE_HOOK-}" ] && ! grep -q ' hook pre-commit' "\${0%/*}/pre-commit" 2>/dev/null; then`,
    `  if [ -x ${node} ] && [ -f ${script} ]; then`,
    `    FORGE_HOOK=${KEEPER_HOOK} ${node} ${script} hook ${KEEPER_HOOK} </dev/null || true`,
    '  fi',
    'fi',
    END,
  ];
  return Buffer.from(`${lines.join('\n')}\n`, 'utf8').toString('latin1');
}

/** Whether a program generated the hook, and will do so again. */
export function isGenerated(text: string): boolean {
  return GENERATED.test(removeBlocks(text));
}

const GENERATED = /husky|\$\(dirname "\$0"\)\/h"|lefthook|pre-commit\.com|simple-git-hooks|overcommit/i;

/** For files that Forge must not write, and for hook managers: the same on every machine. */
export function toPortableLine(hook: HookName): string {
  // The others have nothing on their standard input.
  const stdin = hook === 'post-rewrite' ? ' </dev/null' : '';
  return `command -v forge >/dev/null 2>&1 && forge hook ${hook} "$@"${stdin} || true`;
}

export function hasPortableLine(text: string, hook: HookName): boolean {
  return new RegExp(`^[^#\\n]*\\bforge hook ${hook}\\b`, 'm').test(text);
}

export function findBlocks(text: string): readonly string[] {
  return text.match(BLOCK) ?? [];
}

/** A marker without its partner: nobody can say where the block ends. */
export function hasTornBlock(text: string): boolean {
  return MARKER.test(removeBlocks(text));
}

/** With exactly one block: in the place of the old one, or first of all, so that no `exit` or `exec` comes before. */
export function putBlock(text: string, block: string): string {
  let placed = false;
  const replaced = text.replaceAll(BLOCK, () => {
    if (placed) return '';
    placed = true;
    return block;
  });
  if (placed) return replaced;
  const shebang = /^#![^\n]*(?:\n|$)/.exec(text)?.[0] ?? '';
  const newline = shebang === '' || shebang.endsWith('\n') ? '' : '\n';
  return shebang + newline + block + text.slice(shebang.length);
}

export function removeBlocks(text: string): string {
  return text.replaceAll(BLOCK, '');
}

/** Whether git has a shell run it. Without a `#!` line git itself falls back to one, so a text is a script too. */
export function isShellScript(text: string): boolean {
  const [, words] = /^#![ \t]*([^\n]*)/.exec(text) ?? [];
  if (words === undefined) return !text.includes('\0');
  const [program = '', ...rest] = words.trim().split(/[ \t]+/);
  if (toName(program) === 'busybox') return SHELLS.test(rest[0] ?? '');
  if (toName(program) !== 'env') return SHELLS.test(toName(program));
  const command = rest.find((word) => !word.startsWith('-') && !word.includes('='));
  return SHELLS.test(toName(command ?? ''));
}

/** What the system takes for a part of the interpreter's name; git for Windows does not. */
export function hasCarriageReturn(text: string): boolean {
  return /^#![^\n]*\r\n/.test(text);
}

const SHELLS = /^(?:sh|bash|dash|ash|ksh|mksh|zsh)$/;

function toName(path: string): string {
  return path.replace(/^.*[/\\]/, '').replace(/\.exe$/i, '');
}
