import { defineConfig, type OutputBundle } from 'rolldown';

// The libraries are bundled, so that an installed forge has no dependencies and starts fast; what the code imports
// lazily stays a chunk of its own. CommonJS, because Node starts it measurably faster than ES modules.
//
// Every file that Node opens costs some 0.2 ms, so what a cold read needs is one chunk and what a
// write needs besides is another; a test keeps Zod, commander and child processes out of both.
const READ = [
  'app/(start-cli|open-context|user-home|hold-while-mending|progress-meter|find-program)',
  'kernel/[^/]+',
  'domain/(graph-paths|readiness|resolve-task-ref|states|task-(order|view)|text-search|workflow|default-workflow|workflow-fields)',
  'git/(find-repository|shared-modes)',
  'sync/(find-project|project-paths|project-config|forge-home|file-error|place-file|link-database|look-at)',
  'sync/(catch-up|file-changes|task-files|heal-clone)',
  'store/fold/shown-facts',
  'store/(await-landing|open-sqlite-store|file-modes|monotonic-time|steady-time)',
  'store/sqlite/(catch-up|database|file-marks|foreign-edges|lazy-attempts|load-once|method-kinds|open-work-rows|schema-version|parked-states|ready-queries|replica|resolve-id|store-facts|task-queries|task-rows|translate-error|wait-in-slices)',
  'operations/(accept-argv|assemble-input|field-value|flag-table|manifest|read-(assignments|cursor|portion)|operation|priority-labels)',
  'operations/(task-(ready|show|list|search|lines)|style-text|table-text|text-width)',
  'surfaces/cli/(run-cli|process-io|terminal|check-argv|cli-io|read-all)',
];
/** What neither a read nor a write of a task needs: who works, what may run, what was taken in from a file. */
const LATER = [
  'domain/(checkout-change|compile-report|compose-prompt|count-(audits|rounds|usage)|dependency-tree|diff-command)',
  'domain/decide-(agent-pick|approval|attempt|merge|pick|resume|review-end|run|settlement|suspension)',
  'domain/(describe-(containment|life|stray|usage|walls)|expand-braces|find-(cycles|executed|halted)|good-values)',
  'domain/(interpret-program|join-graphs|journal-mode|judge-attempt|kept-(identity|steps)|known-tools|list-gate-changes)',
  'domain/(look-options|match-command|module-files|package-scripts|parse-moment|path-pattern|pick-meant|plan-dispatch|price-table)',
  'domain/decide-kept-(log|rescues|worktrees)',
  'domain/(process-mark|prune-record|python-shadows|read-tables|restore-merge|risky-options|run-states|runner-files|said-total|shell-[^/]+|suggest-setup|summarise-(event|work))',
  'domain/(task-plan|token-estimate|unreadable-lines|unshared-values|work-refusal)',
];
const FOLD = [
  'domain/(decide-take-in|find-(changed|shown-state)|fold-losses|hand-edits|judge-losses|merge-losses|past-states|plain-line)',
  'domain/(take-in-[^/]+|taken-(back|in)|unshared-values|untaken-edits)',
];
const WRITE = [
  'access/(decide-command-place|for-people)',
  'app/(find-actor|run/inside-run)',
  `(?!(${[...LATER, ...FOLD].join('|')})\\.ts$)domain/(?!validate-|locate-)[^/]+`,
  'engine/(actions|change-task|run-hooks|transition-task)',
  'git/(git-environment|read-user-name|parse-git-config|run-git|runs-filters)',
  'process/find-own-run',
  'sync/(agent-identities|agent-profiles|gate-files|home-file|program-memory|sweep-temporary-files|upkeep-mark)',
  'app/keep-up-project',
  'store/sqlite/(apply-record|attempt-facts|check-(holding|save)|claim-writes|graph-walks|edge-rows|graph-writes|history-lines|keep-bounded|lease-lines|lease-rows|log-rows|loop-turn|move-writes|neighbour-bounds|own-values|record-rows|rename-work|replay|save-plan|shown-lines)',
  'store/random-bytes',
  'store/fold/own-runs',
  'store/sqlite/(replica-(appender|lines)|task-writes|write-transaction)',
  'operations/(describe-former-owner|engine-of|review-config|warn-of-secrets|writer|maybe-foreign|task-(create|update|close|reopen|claim|release|comment)|dep-(add|remove))',
];
/** What a commit waits for. */
const HOOK = [
  ...FOLD,
  'domain/locate-secrets',
  'git/(ask-git|branches|operation-in-progress|read-blob|read-ref)',
  'store/sqlite/(changed-lines|export-lines|row-to-line)',
  'sync/(append-lines|export-files|flag-secrets|fold-files|machine|read-file-lines|run-hook|splice-lines|sweep-temporary-files|write-lines)',
  'operations/git-hook',
];

export default defineConfig({
  input: { main: 'src/app/main.ts' },
  platform: 'node',
  external: /^node:/,
  plugins: [plainExports(), plainLetters()],
  // The version is said in several chunks; as a file of its own it would cost `--version` a third.
  optimization: { inlineConst: true },
  output: {
    dir: 'dist',
    format: 'cjs',
    cleanDir: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    minify: true,
    sourcemap: false,
    codeSplitting: {
      groups: [
        // With the helpers of the bundle itself, which every chunk asks for: a file of their own would be one more to open.
        { name: 'read', test: new RegExp(`${inSource(READ).source}|rolldown[/:]runtime`), priority: 3 },
        { name: 'write', test: inSource(WRITE), priority: 2 },
        { name: 'hook', test: inSource(HOOK), priority: 0 },
        { name: 'later', test: inSource(LATER), priority: 1 },
      ],
    },
  },
});

/**
 * Each export of a chunk is written as a getter, which is only of use where a binding changes after the chunk is
 * loaded. No file of ours has one that does (there is no module state), and 200 getters took a third of a millisecond.
 */
function plainExports(): { name: string; renderChunk: (code: string) => string } {
  const GETTER =
    /Object\.defineProperty\(exports, ("[^"]+"), \{\s*enumerable: true,\s*get: function \(\) \{\s*return ([\w$.]+);\s*\}\s*\}\);/g;
  return { name: 'plain-exports', renderChunk: (code) => code.replaceAll(GETTER, 'exports[$1] = $2;') };
}

/**
 * One letter beyond ASCII makes Node keep all of a chunk in two bytes a character, which took a millisecond of a cold
 * read. Such letters stand in strings and regular expressions alone, where an escape means the same.
 */
function plainLetters(): { name: string; generateBundle: (_: unknown, bundle: OutputBundle) => void } {
  const escape = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return {
    name: 'plain-letters',
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle))
        // Each half of a pair by itself.
        if (chunk.type === 'chunk') chunk.code = chunk.code.replaceAll(/[^\0-\x7f]/g, escape);
    },
  };
}

function inSource(paths: readonly string[]): RegExp {
  return new RegExp(`/src/(${paths.join('|')})(\\.generated)?\\.ts$`);
}
