import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Review, StepResult, Verdict } from '#contract/attempt.ts';
import type { RoleHolder, Task } from '#contract/task.ts';
import type { Actor } from '#domain/actor.ts';
import { NO_AGENTS } from '#domain/claimer.ts';
import { isForgeError } from '#kernel/errors.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import { ANN } from '../../tests/support/temp-engine.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { assignRole } from './assign-role.ts';
import { openGates } from './gate-changes.ts';
import { giveVerdict } from './give-verdict.ts';
import { resumeTasks } from './resume-tasks.ts';
import { mergePassed } from './work-task.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

const EXT: Actor = { kind: 'agent', name: 'ext1', named: true };
const CODER: Actor = { kind: 'agent', name: 'w1', named: true };
const BOB: Actor = { kind: 'user', name: 'bob', named: true };
const PASS: Verdict = { verdict: 'pass', summary: 'fine', findings: [] };
const REJECT: Verdict = { verdict: 'reject', summary: 'too short', findings: [] };

const assign = (task: Task, role: string, holder: RoleHolder | null): Promise<Task> =>
  assignRole(shop.as(), { id: task.id, role, holder, reset_worktree: false, reset_workspace: false });

const reviewsOf = (task: Task): Promise<Review[]> => shop.place.store.listReviews({ task_id: task.id });

const stepsOf = (review: Review | undefined): readonly StepResult[] => review?.step_results ?? [];

const states = async (task: Task): Promise<string[]> =>
  (await shop.engine.temp.store.listTransitions({ id: task.id, limit: undefined })).map(
    ({ to_state }) => to_state,
  );

async function say(
  task: Task,
  actor: Actor,
  more: { verdict?: Verdict; force?: boolean } = {},
): Promise<Review> {
  const { verdict = PASS, force = false } = more;
  // By the clock that the runs and reviews of the workshop have.
  const { clock, store } = shop.place;
  const plain = shop.as(actor);
  const engine = { ...plain, clock, by: { ...plain.by, now: clock.now() } };
  const { review } = await giveVerdict(engine, store, {
    id: task.id,
    verdict,
    force,
    gates: openGates(shop.place, { may_allow: true }),
  });
  await shop.workshop.settled();
  return review;
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(() => undefined).catch((thrown: unknown) => thrown);
  return isForgeError(error) ? error.code : String(error);
}

/** A check that leaves a mark outside the checkout each time it really runs. */
function counted(): { step: string; runs: () => number } {
  const file = join(shop.repo.path, '.git', 'counted');
  return {
    step: `echo ran >> ${file}`,
    runs: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0),
  };
}

describe('a gate that is held', () => {
  it('[H1] by the very agent that did the work waits for a person, and starts no audit', async () => {
    shop.addAgent(
      'w1',
      `if grep -q verdict; then echo '{"verdict":"pass","summary":"mine","findings":[]}'; fi; echo x >> x`,
    );
    const task = await shop.create('Own work');
    await assign(task, 'reviewer', { agent: 'w1' });
    const waiting = await shop.work(task, 'w1');
    expect(waiting).toMatchObject({ state: 'review' });
    expect(waiting.review_passed_at).toBeUndefined();
    expect((await reviewsOf(task)).at(-1)?.status).toBe('waiting');
    expect((await shop.place.store.listRuns({ task_id: task.id })).map(({ role }) => role)).toEqual([
      'coder',
    ]);
    expect(await refusal(say(task, CODER))).toBe('permission_denied');
    expect((await say(task, ANN, { force: true })).status).toBe('passed');
  });

  it.each(
    shareOf(
      [
        ['a person', { user: 'ann' }, ANN],
        ['an external agent', { agent: 'ext1' }, EXT],
      ] as const,
      2,
    ),
  )('[H1] waits for the word of %s, and for no other', async (_, holder, speaker) => {
    shop.addAgent('w1', 'echo x > x');
    const check = counted();
    const task = await shop.create('Held', { steps: [check.step] });
    await assign(task, 'reviewer', holder);
    const waiting = await shop.work(task, 'w1');
    expect(waiting.state).toBe('review');
    expect(waiting.review_passed_at).toBeUndefined();
    expect(check.runs()).toBe(1);
    expect(await reviewsOf(task)).toMatchObject([{ status: 'waiting', finished_at: null, verdict: null }]);
    // Nobody gets it to main meanwhile.
    for (const actor of [ANN, EXT, CODER])
      expect(await refusal(shop.move(task, 'merging', actor))).toMatch(/guard_rejected|permission_denied/);
    await mergePassed(shop.workshop, shop.as(), task.id);
    expect((await shop.place.store.getTask(task.id)).state).toBe('review');
    // Neither does the coder say that it is good, nor a stranger.
    expect(await refusal(say(task, CODER))).toBe('permission_denied');
    expect(await refusal(say(task, CODER, { force: true }))).toBe('permission_denied');
    expect(await refusal(say(task, BOB))).toBe('permission_denied');
    const passed = await say(task, speaker);
    expect(passed).toMatchObject({
      status: 'passed',
      verdict: PASS,
      verdict_by: `${speaker.kind}:${speaker.name}`,
      run_id: null,
    });
    const now = await shop.place.store.getTask(task.id);
    expect([now.state, now.review_passed_at]).toEqual(['review', passed.finished_at]);
    expect(await refusal(shop.move(task, 'merging', CODER))).toBe('permission_denied');
    expect((await shop.move(task, 'merging')).state).toBe('done');
    expect(shop.repo.git('show', 'main:x')).toBe('x');
  });

  it('[H1] lands by itself after the word, not before, with merge.auto', async () => {
    shop.set({ merge: { auto: true } });
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Auto', { steps: ['true'] });
    await assign(task, 'reviewer', { user: 'ann' });
    expect((await shop.work(task, 'w1')).state).toBe('review');
    expect(shop.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md');
    await say(task, ANN);
    expect((await shop.place.store.getTask(task.id)).state).toBe('done');
    expect(shop.repo.git('show', 'main:x')).toBe('x');
  });

  it('[H1] sends the work back with the reason, as an auditor does', async () => {
    shop.addAgent('w1', 'if grep -q "too short"; then echo longer > v; else echo no > v; fi');
    const task = await shop.create('Back', { steps: ['test -f v'] });
    await assign(task, 'reviewer', { user: 'ann' });
    await shop.work(task, 'w1');
    const rejected = await say(task, ANN, { verdict: REJECT });
    expect(rejected).toMatchObject({ status: 'failed', verdict_by: 'user:ann' });
    const moves = await shop.engine.temp.store.listTransitions({ id: task.id, limit: undefined });
    expect(moves.find(({ from_state }) => from_state === 'review')).toMatchObject({
      to_state: 'in_progress',
      trigger_reason: 'too short',
      rejection: false,
    });
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    expect(shop.repo.git('show', `${attempt?.branch}:v`)).toBe('longer');
    expect((await reviewsOf(task)).map(({ status }) => status)).toEqual(['failed', 'waiting']);
  });

  it('[H1] waits where nobody made an attempt, too, and a person may speak for the holder', async () => {
    const task = await shop.create('By hand');
    await assign(task, 'reviewer', { user: 'ann' });
    await shop.move(task, 'in_progress', EXT);
    expect((await shop.move(task, 'review', EXT)).review_passed_at).toBeUndefined();
    const seen = await shop.engine.temp.store.newestEvent();
    await say(task, BOB, { force: true });
    const { events } = await shop.engine.temp.store.readEvents({ after: seen, limit: 10 });
    expect(events.find(({ type }) => type === 'review.finished')).toMatchObject({
      triggered_by: 'user:bob',
      data: expect.stringContaining('"forced":true') as string,
    });
    expect((await shop.place.store.getTask(task.id)).review_passed_at).toBeDefined();
  });

  it('[H1] keeps waiting when Forge is started again, and follows the role to somebody else', async () => {
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Restarted', { steps: ['true'] });
    await assign(task, 'reviewer', { user: 'ann' });
    await shop.work(task, 'w1');
    const resume = async (): Promise<string[]> => {
      const resumed = await resumeTasks(shop.workshop, { unwatched_ms: 0 });
      await shop.workshop.settled();
      return resumed.map(({ step }) => step);
    };
    expect(await resume()).toEqual([]);
    shop.addAgent('critic', `echo '${JSON.stringify(PASS)}'`);
    await assign(task, 'reviewer', { agent: 'critic' });
    expect(await resume()).toEqual(['enter']);
    const [first, second] = await reviewsOf(task);
    expect([first?.status, second?.status]).toEqual(['void', 'passed']);
    expect(second?.verdict_by).toBe('agent:critic');
  });

  it('[S2-F12] shows its auditor what attributes of the work would hide', async () => {
    const seen = join(shop.repo.path, '..', 'seen');
    shop.addAgent('w1', 'echo "x -diff" > .gitattributes; echo evil > x');
    // By the command that the prompt names, and by the one that an auditor would type.
    const named = "$(grep -o 'git diff --text[^`]*')";
    shop.addAgent('critic', `{ ${named}; git show HEAD; pwd; } > ${seen}; echo '${JSON.stringify(PASS)}'`);
    const task = await shop.create('Hidden', { steps: ['true'] });
    await assign(task, 'reviewer', { agent: 'critic' });
    await shop.work(task, 'w1');
    expect(readFileSync(seen, 'utf8').match(/^\+evil$/gm)).toHaveLength(2);
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    const [review] = await reviewsOf(task);
    const name = `${attempt?.name}-review-${review?.id.slice(0, 8)}`;
    expect(readFileSync(seen, 'utf8').trimEnd().split('\n').at(-1)).toBe(join(shop.place.root, name));
    // A folder to look at work has no work of its own: the user finds no branch of it.
    expect(shop.repo.git('branch', '--list', '--all', '*-review-*')).toBe('');
  });

  it('of a task without an attempt has nothing to check, and says so', async () => {
    const task = await shop.create('By hand');
    await shop.move(task, 'in_progress');
    await shop.move(task, 'review');
    const moves = await shop.place.store.listTransitions({ id: task.id, limit: undefined });
    expect(moves.flatMap(({ hook_results }) => hook_results ?? [])).toContainEqual(
      expect.objectContaining({ action: 'run_ci_steps', message: 'nothing to check' }),
    );
  });

  it('[H1] needs no word any more where the role is free again', async () => {
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Freed', { steps: ['true'] });
    await assign(task, 'reviewer', { user: 'ann' });
    await shop.work(task, 'w1');
    await assign(task, 'reviewer', null);
    await resumeTasks(shop.workshop, { unwatched_ms: 0 });
    await shop.workshop.settled();
    const [review] = await reviewsOf(task);
    expect(review?.status).toBe('passed');
    expect((await shop.place.store.getTask(task.id)).review_passed_at).toBe(review?.finished_at);
  });

  it('[H1] does not take the word of the agent that handed the work in, whoever has the task by now', async () => {
    const task = await shop.create('Handed in');
    await assign(task, 'reviewer', { agent: 'ext1' });
    await shop.move(task, 'in_progress', EXT);
    await shop.move(task, 'review', EXT);
    expect(await refusal(say(task, EXT))).toBe('permission_denied');
    await shop.place.store.updateTask(
      { id: task.id, assignee: 'ext2', agents: NO_AGENTS },
      { actor: ANN, now: shop.place.clock.now() },
    );
    expect(await refusal(say(task, EXT))).toBe('permission_denied');
    expect((await say(task, ANN, { force: true })).status).toBe('passed');
  });

  it('says no to a word that nobody waits for', async () => {
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Early', { steps: ['true'] });
    await assign(task, 'reviewer', { user: 'ann' });
    expect(await refusal(say(task, ANN))).toBe('state_invalid');
    await shop.work(task, 'w1');
    await say(task, ANN);
    expect(await refusal(say(task, ANN))).toBe('state_invalid');
  });

  it('[H1] takes no word about a task that has left the gate meanwhile', async () => {
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Left', { steps: ['true'] });
    await assign(task, 'reviewer', { user: 'ann' });
    await shop.work(task, 'w1');
    await shop.move(task, 'blocked');
    expect(await refusal(say(task, ANN))).toBe('state_invalid');
    expect((await reviewsOf(task)).map(({ status }) => status)).not.toContain('passed');
    expect((await shop.place.store.getTask(task.id)).state).toBe('blocked');
  });
});

describe('a review', () => {
  it('[S344] [S370] [S371] runs every check, and only then the reviewer; a pass waits in review', async () => {
    shop.addAgent('w1', 'echo x > x');
    const order = join(shop.repo.path, '.git', 'order');
    shop.addAgent('critic', `echo audit >> ${order}; echo '${JSON.stringify(PASS)}'`);
    const steps = [`echo check-1 >> ${order}`, `echo check-2 >> ${order}`];
    const task = await shop.create('Ordered', { steps });
    await assign(task, 'reviewer', { agent: 'critic' });
    const seen = await shop.engine.temp.store.newestEvent();
    const reviewed = await shop.work(task, 'w1');
    expect(readFileSync(order, 'utf8').split('\n')).toEqual(['check-1', 'check-2', 'audit', '']);
    const { events } = await shop.engine.temp.store.readEvents({ after: seen, limit: 1000 });
    const told = events.flatMap(({ type, data }) => {
      if (type.startsWith('review.')) return [type];
      const { run } = JSON.parse(data) as { run?: { role: string; state: string } };
      return run?.role === 'reviewer' ? [`reviewer ${run.state}`] : [];
    });
    expect(told).toEqual([
      'review.started',
      'review.step_finished',
      'review.step_finished',
      'reviewer scheduled',
      'reviewer running',
      'review.finished',
      'reviewer verifying',
      'reviewer completed',
    ]);
    expect(reviewed.state).toBe('review');
    expect(await states(task)).toEqual(['in_progress', 'review']);
  });

  it('[S344] [S370] asks no reviewer where a check fails', async () => {
    shop.addAgent('w1', 'echo again >> v');
    const asked = join(shop.repo.path, '.git', 'asked');
    shop.addAgent('critic', `echo asked > ${asked}; echo '${JSON.stringify(PASS)}'`);
    const task = await shop.create('Red', { steps: ['false'] });
    await assign(task, 'reviewer', { agent: 'critic' });
    expect((await shop.work(task, 'w1')).state).toBe('blocked');
    expect(existsSync(asked)).toBe(false);
    expect((await reviewsOf(task)).every(({ status }) => status === 'failed')).toBe(true);
  });

  it('[A18] takes a pass with a blocker for none', async () => {
    shop.addAgent('w1', 'if grep -q "it leaks"; then echo tight > v; else echo no > v; fi');
    const finding = { severity: 'blocker', file: 'v', line: 1, message: 'it leaks' };
    const blocked = { verdict: 'pass', summary: 'nice', findings: [finding] };
    shop.addAgent(
      'critic',
      `if grep -q tight v; then echo '${JSON.stringify(PASS)}'; else echo '${JSON.stringify(blocked)}'; fi`,
    );
    shop.set({ merge: { auto: true } });
    const task = await shop.create('Blocker', { steps: ['test -f v'] });
    await assign(task, 'reviewer', { agent: 'critic' });
    await shop.work(task, 'w1');
    expect(shop.repo.git('show', 'main:v')).toBe('tight');
    const [first, second] = await reviewsOf(task);
    expect([first?.status, first?.verdict?.verdict, second?.status]).toEqual(['failed', 'pass', 'passed']);
    const moves = await shop.engine.temp.store.listTransitions({ id: task.id, limit: undefined });
    expect(moves.find(({ rejection }) => rejection)?.trigger_reason).toBe(
      'The verdict was pass, with a blocker: it leaks',
    );
  });

  inSoak(() => {
    it('[A18] takes a pass with a blocker for none, also from a person', async () => {
      shop.addAgent('w1', 'echo again >> v');
      const task = await shop.create('Blocker by hand', { steps: ['true'] });
      await assign(task, 'reviewer', { user: 'ann' });
      await shop.work(task, 'w1');
      const verdict: Verdict = { ...PASS, findings: [{ severity: 'blocker', message: 'it leaks' }] };
      expect((await say(task, ANN, { verdict })).status).toBe('failed');
      expect((await shop.place.store.getTask(task.id)).review_passed_at).toBeUndefined();
    });
  });

  it('[L4] [L5] says when it passed, and whose run audited it', async () => {
    shop.addAgent('w1', 'echo x > x');
    shop.addAgent('critic', `echo '${JSON.stringify(PASS)}'`);
    const [plain, audited] = [
      await shop.create('Plain', { steps: ['sleep 0.2'] }),
      await shop.create('Audited', { steps: ['sleep 0.21'] }),
    ];
    await assign(audited, 'reviewer', { agent: 'critic' });
    for (const task of [plain, audited]) {
      const { review_passed_at } = await shop.work(task, 'w1');
      const [review] = await reviewsOf(task);
      expect(review_passed_at).toBe(review?.finished_at);
      const checked = Date.parse(review?.started_at ?? '') + (stepsOf(review)[0]?.duration_ms ?? 0);
      expect(Date.parse(review_passed_at ?? '')).toBeGreaterThanOrEqual(checked);
      const runs = await shop.place.store.listRuns({ task_id: task.id });
      const audit = runs.find(({ role }) => role === 'reviewer');
      expect(review?.run_id ?? undefined).toBe(audit?.id);
      expect(review?.verdict_by).toBe(task === audited ? 'agent:critic' : null);
    }
  });
});

describe('what a check said of a tree', () => {
  it('[S404] is taken over with a mark that says from which review, and when', async () => {
    shop.addAgent('w1', 'echo x > x');
    const check = counted();
    const task = await shop.create('Same tree', { steps: [check.step] });
    await shop.work(task, 'w1');
    const [first] = await reviewsOf(task);
    expect(stepsOf(first)[0]?.reused_from).toBeUndefined();
    await shop.engine.temp.store.readStanding(task.id);
    // The same tree, by another agent.
    const twin = await shop.create('Twin', { steps: [check.step] });
    await shop.work(twin, 'w1');
    const [taken] = await reviewsOf(twin);
    expect(stepsOf(taken)[0]).toMatchObject({
      outcome: 'passed',
      reused_from: { review_id: first?.id, at: expect.any(String) as string },
    });
    expect(check.runs()).toBe(1);
  });

  inSoak(() => {
    it('counts no more after the work went to somebody else while a merge waited, and stays where nothing had passed', async () => {
      shop.addAgent('w1', 'echo x > x; echo mine > README.md');
      const waiting = await shop.create('Cannot be merged', { steps: ['true'] });
      const refused = await shop.create('Refused', { steps: ['false'] });
      await shop.work(waiting, 'w1');
      await shop.repo.write('README.md', 'theirs\n');
      shop.repo.git('commit', '-qam', 'theirs');
      shop.removeAgent('w1');
      expect((await shop.move(waiting, 'merging')).state).toBe('merge_failed');
      await assign(waiting, 'coder', { agent: 'w2' });
      expect(await reviewsOf(waiting)).toMatchObject([{ status: 'void' }]);
      shop.set({ scheduler: { retry_limit: 1 } });
      shop.addAgent('w1', 'echo x > x');
      await shop.work(refused, 'w1');
      await assign(refused, 'coder', { agent: 'w2' });
      expect((await reviewsOf(refused)).map(({ cleared_at }) => cleared_at)).not.toContainEqual(
        expect.any(String),
      );
    });
  });

  it('[M9] [S404] counts no more after the work went to somebody else: everything runs again', async () => {
    shop.addAgent('w1', 'echo x > x');
    const check = counted();
    const task = await shop.create('Cleared', { steps: [check.step, 'true'] });
    await shop.work(task, 'w1');
    expect(check.runs()).toBe(1);
    const before = await shop.place.store.getTask(task.id);
    expect(before.review_passed_at).toBeDefined();
    await assign(task, 'coder', { agent: 'w2' });
    const cleared = await shop.place.store.getTask(task.id);
    expect([cleared.state, cleared.review_passed_at]).toEqual(['review', undefined]);
    expect(await reviewsOf(task)).toMatchObject([
      { status: 'void', cleared_at: expect.any(String) as string },
    ]);
    expect(await refusal(shop.move(task, 'merging'))).toBe('guard_rejected');
    await mergePassed(shop.workshop, shop.as(), task.id);
    expect((await shop.place.store.getTask(task.id)).state).toBe('review');
    // Whoever starts next runs the whole cycle, on the very same tree.
    await resumeTasks(shop.workshop, { unwatched_ms: 0 });
    await shop.workshop.settled();
    expect(check.runs()).toBe(2);
    const [, again] = await reviewsOf(task);
    expect(again?.status).toBe('passed');
    expect(stepsOf(again).map(({ reused_from }) => reused_from)).toEqual([undefined, undefined]);
    expect((await shop.move(task, 'merging')).state).toBe('done');
    // The merge tests nothing anew: the tree is the one of the second review.
    expect(check.runs()).toBe(2);
  });

  it('[M9] counts no more for its merge either, whichever task had it tested', async () => {
    shop.addAgent('w1', 'echo x > x');
    shop.addAgent('both', 'echo x > x; echo y > y');
    const check = counted();
    const [whole, part] = [
      await shop.create('Whole', { steps: [check.step] }),
      await shop.create('Part', { steps: [check.step] }),
    ];
    await shop.work(whole, 'both');
    await shop.work(part, 'w1');
    await assign(part, 'coder', { agent: 'w2' });
    await resumeTasks(shop.workshop, { unwatched_ms: 0 });
    await shop.workshop.settled();
    expect(check.runs()).toBe(3);
    // With this its merge is the tree of the other one, which was tested before the work went to somebody else.
    await shop.repo.write('y', 'y\n');
    shop.repo.git('add', 'y');
    shop.repo.git('commit', '-qm', 'y');
    expect((await shop.move(part, 'merging')).state).toBe('done');
    expect(check.runs()).toBe(4);
  });

  it('[M9] a review that is cleared while its checks run does not pass', async () => {
    shop.addAgent('w1', 'echo x > x');
    const [began, go] = [join(shop.repo.path, '.git', 'began'), join(shop.repo.path, '.git', 'go')];
    const step = `touch ${began}; while ! test -f ${go}; do sleep 0.05; done`;
    const task = await shop.create('Checked', { steps: [step] });
    const working = shop.work(task, 'w1');
    await expect.poll(() => existsSync(began), { timeout: 20_000 }).toBe(true);
    await assign(task, 'coder', { agent: 'w2' });
    await shop.repo.write('.git/go', '');
    expect((await working).review_passed_at).toBeUndefined();
    expect((await reviewsOf(task)).map(({ status }) => status)).toEqual(['void']);
  });

  it('[M9] a review that is cleared while it waits, or while an auditor looks, does not pass', async () => {
    shop.addAgent('w1', 'echo x > x');
    const go = join(shop.repo.path, '.git', 'go');
    shop.addAgent('critic', `while ! test -f ${go}; do sleep 0.05; done; echo '${JSON.stringify(PASS)}'`);
    const [waiting, looked] = [
      await shop.create('Waits', { steps: ['true'] }),
      await shop.create('Looked at', { steps: ['true'] }),
    ];
    await assign(waiting, 'reviewer', { user: 'ann' });
    await assign(looked, 'reviewer', { agent: 'critic' });
    await shop.work(waiting, 'w1');
    await assign(waiting, 'coder', { agent: 'w2' });
    expect(await refusal(say(waiting, ANN))).toBe('state_invalid');
    const working = shop.work(looked, 'w1');
    await expect
      .poll(async () => (await shop.place.store.listRuns({ task_id: looked.id })).at(-1)?.role, {
        timeout: 20_000,
      })
      .toBe('reviewer');
    await assign(looked, 'coder', { agent: 'w2' });
    await shop.repo.write('.git/go', '');
    expect((await working).review_passed_at).toBeUndefined();
    expect((await reviewsOf(looked)).map(({ status }) => status)).toEqual(['void']);
  });

  it('[M9] a merge that is taken up after a crash does not land what was cleared meanwhile', async () => {
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Crashed', { steps: ['true'] });
    await shop.work(task, 'w1');
    const { store, clock } = shop.place;
    const move = { id: task.id, to: 'merging', reason: null, agents: NO_AGENTS };
    await store.moveTask(move, { actor: ANN, now: clock.now() });
    await assign(task, 'coder', { agent: 'w2' });
    await resumeTasks(shop.workshop, { unwatched_ms: 0 });
    await shop.workshop.settled();
    expect(await store.getTask(task.id)).toMatchObject({ error_annotation: { code: 'not_reviewed' } });
    expect(shop.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md');
  });

  inSoak(() => {
    it('[M9] an old pass is gone where Forge is killed before the new review begins', async () => {
      const task = await shop.create('Killed');
      await assign(task, 'reviewer', { user: 'ann' });
      await shop.move(task, 'in_progress', EXT);
      await shop.move(task, 'review', EXT);
      await say(task, ANN);
      expect((await shop.move(task, 'in_progress')).review_passed_at).toBeDefined();
      const { store } = shop.place;
      const whole = Object.getOwnPropertyDescriptors(store);
      Object.assign(store, { updateTask: () => Promise.reject(new Error('killed')) });
      Object.assign(store, { startReview: () => Promise.reject(new Error('killed')) });
      await shop.move(task, 'review', EXT).catch(() => undefined);
      Object.defineProperties(store, whole);
      const now = await store.getTask(task.id);
      expect([now.state, now.review_passed_at]).toEqual(['review', undefined]);
      const closing = store.closeTask({ id: task.id, reason: 'done' }, { actor: EXT, now: Date.now() });
      expect(await refusal(closing)).toBe('permission_denied');
    });

    it('[M9] an old pass is gone where a review is taken up because the work has another commit', async () => {
      shop.addAgent('w1', 'echo x > x');
      const task = await shop.create('Another commit', { steps: ['true'] });
      expect((await shop.work(task, 'w1')).review_passed_at).toBeDefined();
      await assign(task, 'reviewer', { user: 'ann' });
      const { store, clock } = shop.place;
      const [attempt] = await store.listAttempts({ task_id: task.id });
      const change = { id: attempt?.id ?? '', head_commit: 'a'.repeat(40) };
      await store.changeAttempt(change, { actor: ANN, now: clock.now() });
      await resumeTasks(shop.workshop, { unwatched_ms: 0 });
      await shop.workshop.settled();
      expect((await reviewsOf(task)).map(({ status }) => status)).toEqual(['passed', 'waiting']);
      expect((await store.getTask(task.id)).review_passed_at).toBeUndefined();
    });
  });

  it('[M9] an old pass is gone as soon as a new review begins', async () => {
    shop.addAgent('w1', 'echo again >> v');
    const task = await shop.create('Again', { steps: ['true'] });
    await shop.work(task, 'w1');
    await assign(task, 'reviewer', { user: 'ann' });
    expect((await shop.place.store.getTask(task.id)).review_passed_at).toBeDefined();
    const back = await shop.move(task, 'in_progress');
    expect([back.state, back.review_passed_at]).toEqual(['review', undefined]);
    expect((await reviewsOf(task)).map(({ status }) => status)).toEqual(['passed', 'waiting']);
  });
});
