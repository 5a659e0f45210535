import type { InputOf, OutputOf } from '#contract/declare.ts';
import type { onboardAgents } from '#contract/onboarding-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { ONBOARD_BLOCK } from '#sync/onboard-block.ts';
import { applyOnboarding, type OnboardStep, planOnboarding } from '#sync/onboard-files.ts';
import { implement } from './operation.ts';

type Change = OutputOf<typeof onboardAgents>['files'][number]['change'];

export const projectOnboard = implement<typeof onboardAgents>({
  async run(ctx, input) {
    checkFlags(input);
    const steps = planOnboarding(ctx.project.paths.root, input.undo === true ? 'no block' : 'block');
    if (input.check === true) checkUpToDate(steps);
    const dryRun = input.dry_run === true;
    if (!dryRun) applyOnboarding(steps);
    const files = steps.map(({ path, change }) => ({ path, change }));
    return { files, dry_run: dryRun, block: ONBOARD_BLOCK };
  },
  text({ files, dry_run, block }) {
    const said = dry_run ? WOULD : DONE;
    const lines = files.map(({ path, change }) => said[change](path));
    if (lines.length === 0) lines.push('There is no Forge block to remove.');
    const writes = files.some(({ change }) => change === 'create' || change === 'add' || change === 'update');
    return dry_run && writes ? `${lines.join('\n')}\n\n${block}` : lines.join('\n');
  },
});

const DONE: Readonly<Record<Change, (path: string) => string>> = {
  create: (path) => `${path}: made, with the Forge block. Commit it to share it.`,
  add: (path) => `${path}: added the Forge block. Commit it to share it.`,
  update: (path) => `${path}: updated the Forge block. Commit it to share it.`,
  remove: (path) => `${path}: removed the Forge block.`,
  delete: (path) => `${path}: removed, because nothing but the Forge block was in it.`,
  none: (path) => `${path}: nothing to do.`,
};

const WOULD: typeof DONE = {
  create: (path) => `${path}: would be made, with the Forge block`,
  add: (path) => `${path}: would get the Forge block`,
  update: (path) => `${path}: would get the Forge block of today in place of its own`,
  remove: (path) => `${path}: would lose the Forge block`,
  delete: (path) => `${path}: would be removed, because nothing but the Forge block is in it`,
  none: DONE.none,
};

function checkFlags({ check, undo, dry_run }: InputOf<typeof onboardAgents>): void {
  if (check !== true || (undo !== true && dry_run !== true)) return;
  throw new ForgeError('usage', '--check only looks; it goes with neither --undo nor --dry-run', {
    hint: 'forge onboard --check',
  });
}

function checkUpToDate(steps: readonly OnboardStep[]): void {
  const wrong = steps.filter(({ change }) => change !== 'none');
  if (wrong.length === 0) return;
  const sentences = wrong.map(({ path, change }) => {
    if (change === 'create') return `${path} is missing`;
    return change === 'add'
      ? `${path} has no Forge block`
      : `the Forge block in ${path} is not the one of today`;
  });
  throw new ForgeError('state_invalid', sentences.join('; '), {
    hint: 'forge onboard',
    details: { files: wrong.map(({ path, change }) => ({ path, change })) },
  });
}
