import { literalOf, type ShellWord } from './shell-line.ts';
import { runsFiles } from './shell-programs.ts';
import type { ScriptFinder } from './shell-scripts.ts';
import { BLANK } from './shell-tree.ts';

/** What `find` runs by `-exec`: a program, or any of the files below the folders in which it looks. */
export function findExecuted(finder: ScriptFinder, args: readonly ShellWord[]): void {
  const at = args.findIndex((word) => /^[-(!]/.test(literalOf(word) ?? ''));
  const roots = args.slice(0, Math.max(at, 0));
  for (const [index, word] of args.entries()) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(literalOf(word) ?? '')) continue;
    const end = args.findIndex((one, place) => place > index && [';', '+'].includes(literalOf(one) ?? ''));
    const words = args.slice(index + 1, end === -1 ? undefined : end);
    const program = literalOf(words[0] ?? BLANK) ?? '{}';
    const isAny =
      words.some(({ text }) => text.includes('{}')) && (program.includes('{}') || runsFiles(program));
    if (!isAny) finder.run(words);
    else if (roots.length === 0) finder.addUnknown();
    else for (const root of roots) finder.addNamed(root);
  }
}
