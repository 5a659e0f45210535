import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REPLICA, type SessionStep } from '../support/power-loss-session.ts';
import { openPowerLoss, type OpenPowerLoss } from '../support/power-loss-sweep.ts';
import { WHY_NO_STRACE } from '../support/strace-points.ts';
import { toTaskId } from '../support/strace-scenarios.ts';
import { copyProgram } from '../support/strace-sweep.ts';

const CUTS = 12;
const why = WHY_NO_STRACE === undefined ? '' : ` (left out: ${WHY_NO_STRACE})`;
/** The task files are not as git has them: then what stands in them was put there by a person. */
const BEFORE = [['task', 'update', toTaskId(2), '--priority', '0'], ['export']] as const;
const STEPS: readonly SessionStep[] = [
  { forge: ['task', 'update', toTaskId(1), '--description', 'Longer than a sector. '.repeat(40)] },
  { forge: ['claim', toTaskId(1)] },
  { forge: ['task', 'comment', toTaskId(2), 'Said'] },
  { forge: ['export'] },
  { write: '.forge/tasks.jsonl', change: (text) => text.replace('"title":"Task 0"', '"title":"By hand"') },
  { forge: ['import'] },
  { forge: ['task', 'close', toTaskId(1), '--reason', 'Done'] },
  { forge: ['task', 'create', 'Made'] },
];

describe.skipIf(WHY_NO_STRACE !== undefined)(`power that fails at some of the writes${why}`, () => {
  let program: ReturnType<typeof copyProgram>;
  let loss: OpenPowerLoss;
  beforeAll(async () => {
    program = copyProgram();
    loss = await openPowerLoss(program.script, {
      tasks: 3,
      before: BEFORE,
      steps: STEPS,
      held: true,
    });
    // A busy machine is slow, not wrong.
  }, 180_000);
  afterAll(async () => {
    await loss?.[Symbol.asyncDispose]();
    program[Symbol.dispose]();
  });
  /** Where the last command has just been acknowledged. */
  const end = (): number => loss.session.disk.length;

  test('F7 takes nothing that was acknowledged and leaves nothing half done', async () => {
    const { violations } = await loss.sweep(CUTS, 1);
    expect(violations).toEqual([]);
  });

  test('F7 nothing is lost of a whole session where nothing that was not synced survives', async () => {
    expect(await loss.cut({ at: end(), survives: 'nothing' }, 1)).toEqual([]);
  });

  test('F7 a program that does not sync the local replica is found: what it acknowledged is lost', async () => {
    const wrong = await loss.cut(
      { at: end(), survives: 'nothing', forgetting: new RegExp(`^${REPLICA}$`) },
      1,
    );
    expect(wrong.join('\n')).toContain(`the rows: ${toTaskId(1)} is neither old nor new`);
    expect(wrong.join('\n')).toMatch(/the rows: fg-\w+ is lost/);
  });

  test('F7 a write that is torn where it was synced is found', async () => {
    const wrong = await loss.cut({ at: end(), survives: 'nothing', tearing: new RegExp(`^${REPLICA}$`) }, 1);
    expect(wrong.join('\n')).toMatch(/the rows: fg-\w+ is lost/);
  });

  test('F7 a program that does not sync the folder of the task files is found: an edit is taken back', async () => {
    const folder = /^\.forge$/;
    const wrong = await loss.cut({ at: end(), survives: 'nothing', only: folder, forgetting: folder }, 1);
    expect(wrong.join('\n')).toContain(`the rows: ${toTaskId(0)} is neither old nor new`);
  });
});
