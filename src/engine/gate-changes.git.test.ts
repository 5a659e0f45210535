import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { findGateChanges, listGateChanges, listUnread, openGates } from './gate-changes.ts';
import { giveVerdict } from './give-verdict.ts';
import { resumeTasks } from './resume-tasks.ts';
import { workTask } from './work-task.ts';
import { Workshop } from './workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
  await shop.repo.write('.forge/config.json', '{"review":{"ci_steps":["./ci.sh"]}}\n');
  await shop.repo.write('ci.sh', '#!/bin/sh\ntest -e x\n');
  await shop.repo.write('lib.sh', 'true\n');
  shop.repo.git('add', '-A');
  shop.repo.git('update-index', '--chmod=+x', 'ci.sh');
  shop.repo.git('commit', '-qm', 'gates');
  shop.repo.git('checkout', '-q', '--', 'ci.sh');
});
afterEach(() => shop[Symbol.asyncDispose]());

describe('[A2] an attempt that changes what judges it', () => {
  it.each(
    shareOf(
      [
        ['the config', 'echo "{}" > .forge/config.json', '.forge/config.json'],
        ['its removal', 'rm .forge/config.json', '.forge/config.json'],
        ['the workflow', 'echo "{}" > .forge/workflow.json', '.forge/workflow.json'],
        ['the tasks', 'echo "{}" > .forge/tasks.jsonl', '.forge/tasks.jsonl'],
        ['the history', 'echo "{}" > .forge/history.jsonl', '.forge/history.jsonl'],
        ['the script of a check', 'echo "exit 0" > ci.sh', 'ci.sh'],
        ['its mode', 'echo >> ci.sh; chmod -x lib.sh; git update-index --chmod=-x ci.sh', 'ci.sh'],
      ],
      3,
    ),
  )('%s is merged only when a person has passed it', async (_, script, file) => {
    shop.addAgent('sly', `echo x > x; ${script}`);
    const task = await shop.create('Sly', { steps: ['bash ci.sh'] });
    const before = shop.repo.git('rev-parse', 'main');
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    expect(shop.repo.git('rev-parse', 'main')).toBe(before);
    const [review] = await shop.place.store.listReviews({ task_id: task.id });
    expect(review?.status).toBe('waiting');
    const { error_annotation } = await shop.place.store.getTask(task.id);
    expect(error_annotation).toMatchObject({ code: 'gate_changed', message: expect.stringContaining(file) });
    expect(error_annotation?.message).toMatch(
      /`git diff --text --no-ext-diff --no-textconv main\.\.\.\S+ -- \S.*`, then .* reject --reason "…"`$/,
    );
    expect(await listGateChanges(shop.place, await shop.place.store.getTask(task.id))).toEqual([file]);
    const verdict = { verdict: 'pass' as const, summary: 'seen', findings: [] };
    await giveVerdict(shop.as(), shop.place.store, {
      id: task.id,
      verdict,
      force: false,
      gates: openGates(shop.place, { may_allow: true }),
    });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'done' });
  });

  it.each(
    shareOf(
      [
        [
          'what the user’s rules ignore',
          'echo "script-shell=/bin/true" > .npmrc; git add -f .npmrc; git commit -qm mine',
          '.npmrc',
        ],
        ['packages', 'mkdir -p node_modules/.bin; echo > node_modules/.bin/sh', 'node_modules/.bin/sh'],
        ['compiled files', 'mkdir __pycache__; echo > __pycache__/check.pyc', '__pycache__/check.pyc'],
        ['a link out of the tree', 'ln -s ../hidden lib', 'lib'],
        ['an absolute link', 'ln -s /tmp lib', 'lib'],
        ['a link that leads out by another', 'ln -s sub way; ln -s way/../../hidden lib', 'lib'],
        [
          'a link with a way back that another may lead elsewhere',
          'ln -s sub way; ln -s way/../x lib',
          'lib',
        ],
      ],
      7,
    ),
  )('[S2-F1] [S2-F10] %s in a commit waits for a person', async (_, script, file) => {
    await shop.repo.write('.git/info/exclude', '.npmrc\n');
    shop.addAgent('sly', `echo x > x; ${script}`);
    const task = await shop.create('Sly', { steps: ['test -e x'] });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    expect(await shop.place.store.getTask(task.id)).toMatchObject({
      state: 'review',
      error_annotation: { code: 'gate_changed', message: expect.stringContaining(file) as string },
    });
  });

  it.each(
    shareOf(
      [
        ['a link', 'ln -s /tmp "link-$MINE"'],
        ['compiled files', 'mkdir __pycache__; echo > "__pycache__/$MINE.pyc"'],
      ],
      2,
    ),
  )('[F4] the name of %s keeps the values of the agent out of what the task says', async (_, script) => {
    const value = 'Kettle93xxQ82plum';
    shop.addAgent('sly', `echo x > x; ${script}`, { env: { MINE: value } });
    const task = await shop.create('Sly', { steps: ['test -e x'] });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    const { error_annotation, state } = await shop.place.store.getTask(task.id);
    expect([state, error_annotation]).toMatchObject(['review', { code: 'gate_changed' }]);
    expect(error_annotation?.message).toContain('[redacted]');
    using db = new DatabaseSync(shop.engine.temp.database, { readOnly: true });
    const events = db.prepare('SELECT data FROM events').all();
    expect(events.length).toBeGreaterThan(0);
    expect(JSON.stringify([error_annotation, events])).not.toContain(value);
  });

  it('waits for that person also where the process is gone that checked it', async () => {
    shop.addAgent('sly', 'echo x > x; echo "exit 0" > ci.sh');
    const { id } = await shop.create('Sly', { steps: ['bash ci.sh'] });
    const before = shop.repo.git('rev-parse', 'main');
    await workTask(shop.workshop, shop.as(), { id, agent: 'sly', merge: true });
    const left = new Workshop(shop.place);
    expect(await resumeTasks(left, { unwatched_ms: 0 })).toEqual([]);
    await left.settled();
    expect(await shop.place.store.getTask(id)).toMatchObject({ state: 'review' });
    expect(shop.repo.git('rev-parse', 'main')).toBe(before);
  });

  it('links inside of the tree, and what the rules ignore no more, are work like any other', async () => {
    shop.addAgent('honest', 'echo x > x; mkdir -p a/b; ln -s ../../x a/b/l; ln -s a way; echo y > .y');
    const task = await shop.create('Links', { steps: ['test -e a/b/l'] });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'honest', merge: true });
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'done' });
  });

  it('is told by what its commits have: scripts of the set-up too, by their very names', async () => {
    const commit = async (path: string, text: string): Promise<string> => {
      await shop.repo.write(path, text);
      shop.repo.git('add', '-A');
      shop.repo.git('commit', '-qm', path);
      return shop.repo.git('rev-parse', 'HEAD');
    };
    shop.set({ workspace: { setup: ['bash lib.sh'] } });
    const task = await shop.create('Direct', { steps: ['bash "c[i].sh"'] });
    const base_commit = await commit('c[i].sh', 'true\n');
    shop.repo.git('checkout', '-q', '-b', 'work');
    const find = (head_commit: string, target: string) =>
      findGateChanges(
        shop.place,
        { id: 'a', task_id: task.id, base_commit, head_commit, target, path: '/none' },
        task,
      );
    const first = await commit('lib.sh', 'false\n');
    expect(await find(first, 'main')).toEqual(['lib.sh']);
    const second = await commit('c[i].sh', 'false\n');
    expect(await find(second, 'main')).toEqual(['lib.sh', 'c[i].sh']);
    // What the target has by now is the target's.
    expect(await find(second, 'work')).toEqual([]);
  });

  it('is not one into which the target was merged, unless it changes what the merge brought', async () => {
    const { repo } = shop;
    const task = await shop.create('Merged', { steps: ['bash ci.sh'] });
    const commit = async (files: Readonly<Record<string, string>>): Promise<string> => {
      for (const [path, text] of Object.entries(files)) await repo.write(path, text);
      repo.git('add', '-A', '-f');
      repo.git('commit', '-qm', 'more');
      return repo.git('rev-parse', 'HEAD');
    };
    const base_commit = repo.git('rev-parse', 'main');
    const find = (head_commit: string) =>
      findGateChanges(
        shop.place,
        { id: 'a', task_id: task.id, base_commit, head_commit, target: 'main', path: '/none' },
        task,
      );
    const config = '.forge/config.json';
    const tasks = '.forge/tasks.jsonl';
    const brought = { [tasks]: '{"id":"fg-1"}\n', 'ci.sh': 'true\n', 'node_modules/x.js': '1\n' };
    await commit({ ...brought, [config]: '{}\n' });
    repo.git('checkout', '-q', '-b', 'work', base_commit);
    await commit({ 'calc.py': '1\n' });
    repo.git('merge', '-q', '--no-edit', 'main');
    const merged = repo.git('rev-parse', 'HEAD');
    expect(await find(merged)).toEqual([]);
    // The target goes on, and what it has by then is neither what the merge brought nor what was there at the start.
    repo.git('checkout', '-q', 'main');
    await commit({ [tasks]: '{"id":"fg-2"}\n', 'ci.sh': 'test 1\n', 'node_modules/x.js': '2\n' });
    expect(await find(merged)).toEqual([]);
    repo.git('checkout', '-q', 'work');
    expect(await find(await commit({ [tasks]: '{"id":"fg-3"}\n' }))).toEqual([tasks]);
    // Back to what was there at the start: a change of what the target has.
    const old = repo.git('show', `${base_commit}:${config}`);
    expect(await find(await commit({ [config]: `${old}\n` }))).toEqual([config, tasks]);
    // A branch that is set back to an older commit of the target is held against its start.
    repo.git('checkout', '-q', '-b', 'back', `${base_commit}~1`);
    expect(await find(await commit({ y: 'y' }))).toContain('ci.sh');
  });

  it('is not one that changes other files', async () => {
    shop.addAgent('honest', 'echo x > x; echo more >> lib.sh; git -C . status > /dev/null');
    const task = await shop.create('Honest', { steps: ['bash ci.sh'] });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'honest', merge: true });
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'done' });
  });
});

describe('[M5] what a check runs is what a person has allowed', () => {
  const passed = { verdict: 'pass' as const, summary: 'seen', findings: [] };
  const ran = join(tmpdir(), `forge-m5-${process.pid}`);
  afterEach(() => rmSync(ran, { force: true }));

  it.each(
    shareOf(
      [
        ['its own script', 'bash ci.sh', `echo "touch ${ran}" >> ci.sh`, 'ci.sh'],
        ['in a folder', 'cd sub && ./ci.sh', `echo "touch ${ran}" >> sub/ci.sh`, 'sub/ci.sh'],
        [
          'a script of package.json',
          'npm test',
          `sed -i 's#true#touch ${ran}#' package.json`,
          'package.json',
        ],
        [
          'one that was not there',
          'test ! -e later.sh || bash later.sh',
          `echo "touch ${ran}" > later.sh`,
          'later.sh',
        ],
        [
          'an ignored one in its place',
          'bash ci.sh',
          `git rm -q --cached ci.sh; echo ci.sh > .gitignore; echo "touch ${ran}" >> ci.sh`,
          'ci.sh',
        ],
        [
          'one that cannot be read from the line',
          'for f in su[b]/*.sh; do bash "$f"; done',
          `echo "touch ${ran}" >> sub/ci.sh`,
          './',
        ],
      ],
      6,
    ),
  )('%s is not run before a person has passed it, and then it is', async (_, step, script, file) => {
    await shop.repo.write('sub/ci.sh', '#!/bin/sh\ntrue\n');
    await shop.repo.write('package.json', '{"scripts":{"test":"true"}}\n');
    shop.repo.git('add', '-A');
    shop.repo.git('update-index', '--chmod=+x', 'sub/ci.sh');
    shop.repo.git('commit', '-qm', 'more');
    shop.repo.git('checkout', '-q', '--', 'sub/ci.sh');
    shop.addAgent('sly', `echo x > x; ${script}`);
    const task = await shop.create('Sly', { steps: [step] });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    const [review] = await shop.place.store.listReviews({ task_id: task.id });
    expect([existsSync(ran), review?.status, review?.step_results]).toEqual([false, 'waiting', []]);
    const { error_annotation } = await shop.place.store.getTask(task.id);
    expect(error_annotation).toMatchObject({
      code: 'gate_changed',
      message: expect.stringContaining(`run ${file}`),
    });
    const said = {
      id: task.id,
      verdict: passed,
      force: false,
      gates: openGates(shop.place, { may_allow: true }),
    };
    await giveVerdict(shop.as(), shop.place.store, said);
    expect(existsSync(ran)).toBe(false);
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    expect([existsSync(ran), (await shop.place.store.getTask(task.id)).state]).toEqual([true, 'done']);
  });

  it('a yes is for the bytes that were there, and an agent cannot give it', async () => {
    shop.addAgent('sly', `echo x > x; echo "touch ${ran}" >> ci.sh`);
    const task = await shop.create('Sly', { steps: ['bash ci.sh'] });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    const said = {
      id: task.id,
      verdict: passed,
      force: false,
      gates: openGates(shop.place, { may_allow: true }),
    };
    const agent = shop.as({ kind: 'agent', name: 'other', named: true });
    await expect(giveVerdict(agent, shop.place.store, said)).rejects.toThrow(/says whether it passes/);
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    const [review] = await shop.place.store.listReviews({ task_id: task.id });
    if (attempt === undefined || review === undefined) throw new Error('no review');
    // A yes to another review is none to this one.
    await openGates(shop.place, { may_allow: true }).allow(
      task,
      { ...review, id: crypto.randomUUID() },
      shop.as().by,
    );
    expect(await listUnread(shop.place, attempt, task)).toEqual(['ci.sh']);
    appendFileSync(join(attempt.path, 'ci.sh'), 'rm -rf x\n');
    shop.set({ workspace: { setup: ['bash lib.sh'] } });
    await expect(giveVerdict(shop.as(), shop.place.store, said)).rejects.toThrow(
      /has changed since its review/,
    );
    expect((await shop.place.store.getTask(task.id)).review_passed_at).toBeUndefined();
    shop.set({ workspace: { setup: [] } });
    // It is for what the commit has; what is in the worktree since then is other work.
    await giveVerdict(shop.as(), shop.place.store, said);
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    expect(shop.repo.git('show', 'main:ci.sh')).not.toContain('rm -rf');
  });

  it('a caller who may not allow commands passes nothing that would allow one, and everything else', async () => {
    shop.addAgent('sly', `echo x > x; echo "touch ${ran}" >> ci.sh`);
    shop.addAgent('honest', 'echo x > x');
    const task = await shop.create('Sly', { steps: ['bash ci.sh'] });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    const gates = openGates(shop.place, { may_allow: false });
    const said = { id: task.id, verdict: passed, force: false, gates };
    await expect(giveVerdict(shop.as(), shop.place.store, said)).rejects.toMatchObject({
      code: 'permission_denied',
      message: expect.stringContaining('what no person has allowed to run (bash ci.sh, ci.sh)') as string,
      details: { needed: 'admin' },
    });
    expect((await shop.place.store.listReviews({ task_id: task.id })).at(-1)?.status).toBe('waiting');
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    if (attempt === undefined) throw new Error('no attempt');
    expect(await listUnread(shop.place, attempt, task)).toEqual(['ci.sh']);
    // A no allows nothing.
    const no = { verdict: 'reject' as const, summary: 'No', findings: [] };
    expect((await giveVerdict(shop.as(), shop.place.store, { ...said, verdict: no })).review.status).toBe(
      'failed',
    );
  });

  it('[S2-F2] a yes is for nothing that the commit does not have', async () => {
    await shop.repo.write('sub/Makefile', 'check:\n\ttest -e ../x\n');
    shop.repo.git('add', '-A');
    shop.repo.git('commit', '-qm', 'make');
    const plant = `printf 'check:\\n\\ttouch ${ran}\\n' > sub/GNUmakefile`;
    shop.addAgent(
      'sly',
      `echo x > x; echo "# mine" >> sub/Makefile; ${plant}; printf 'GNUmakefile\\n.gitignore\\n' > sub/.gitignore`,
    );
    const steps = ['make -C sub check'];
    const task = await shop.create('Sly', { steps });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    const { error_annotation } = await shop.place.store.getTask(task.id);
    expect(error_annotation?.message).toContain('sub/Makefile');
    expect(error_annotation?.message).not.toContain('GNUmakefile');
    const said = {
      id: task.id,
      verdict: passed,
      force: false,
      gates: openGates(shop.place, { may_allow: true }),
    };
    await giveVerdict(shop.as(), shop.place.store, said);
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    expect((await shop.place.store.getTask(task.id)).state).toBe('done');
    shop.addAgent('again', `echo y > y; ${plant}; git add -f sub/GNUmakefile; git commit -qm mine`);
    const second = await shop.create('Again', { steps });
    await workTask(shop.workshop, shop.as(), { id: second.id, agent: 'again', merge: true });
    expect((await shop.place.store.getTask(second.id)).error_annotation).toMatchObject({
      code: 'gate_changed',
      message: expect.stringContaining('sub/GNUmakefile') as string,
    });
    expect(existsSync(ran)).toBe(false);
  });

  it('a merge does not run what only target and attempt together make of a script', async () => {
    const lines = Array.from({ length: 9 }, (_, at) => `# ${at}`).join('\n');
    await shop.repo.write('ci.sh', `#!/bin/sh\n${lines}\ntest -e x\n`);
    shop.repo.git('commit', '-qam', 'long');
    shop.addAgent('sly', `echo x > x; echo "touch ${ran}" >> ci.sh`);
    const task = await shop.create('Sly', { steps: ['bash ci.sh'] });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    const said = {
      id: task.id,
      verdict: passed,
      force: false,
      gates: openGates(shop.place, { may_allow: true }),
    };
    await giveVerdict(shop.as(), shop.place.store, said);
    await shop.repo.write('ci.sh', `#!/bin/sh\n# new\n${lines}\ntest -e x\n`);
    shop.repo.git('commit', '-qam', 'meanwhile');
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    expect(existsSync(ran)).toBe(false);
    const [merge] = await shop.place.store.listMerges({ task_id: task.id });
    expect(merge).toMatchObject({ state: 'refused', message: expect.stringContaining('because of ci.sh') });
  });

  it('of attempts side by side such a one is not green', async () => {
    shop.addAgent('sly', `echo x > x; echo "touch ${ran}" >> ci.sh`);
    shop.addAgent('honest', 'echo x > x');
    const task = await shop.create('Both', { steps: ['bash ci.sh'] });
    await workTask(shop.workshop, shop.as(), {
      id: task.id,
      agent: 'sly',
      merge: false,
      attempts: { agents: ['sly', 'honest'], count: 2, pick: 'first_green' },
    });
    const reviews = await shop.place.store.listReviews({ task_id: task.id });
    const attempts = await shop.place.store.listAttempts({ task_id: task.id });
    const sly = attempts.find(({ agent }) => agent === 'sly');
    for (const review of reviews.filter(({ attempt_id }) => attempt_id === sly?.id))
      expect(review.status).not.toBe('passed');
    expect(existsSync(ran)).toBe(false);
  });
});
