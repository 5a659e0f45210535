import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { readPersonalSettings, readWorkSettings, type WorkSettings } from './work-settings.ts';

interface Place extends AsyncDisposable {
  readonly project: { readonly paths: { readonly forge_dir: string; readonly store_dir: string } };
  readonly home: string;
  read(): WorkSettings;
  config(value: object | string): Promise<void>;
  shared(value: object): Promise<void>;
  personal(value: object): Promise<void>;
}

async function place(): Promise<Place> {
  const folder = await tempFolder();
  const paths = { forge_dir: join(folder.path, '.forge'), store_dir: join(folder.path, 'store') };
  const home = join(folder.path, 'home');
  return {
    project: { paths },
    home,
    read: () => readWorkSettings({ paths }, home),
    config: (value) =>
      folder.write('.forge/config.json', typeof value === 'string' ? value : JSON.stringify(value)),
    shared: (value) => folder.write('store/config.json', JSON.stringify(value)),
    personal: (value) => folder.write('home/settings.json', JSON.stringify(value)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe('readWorkSettings', () => {
  it('has a default for everything', async () => {
    await using here = await place();
    const settings = here.read();
    await here.config({ name: 'x', idPrefix: 'fg', version: 1, review: { other: 1 }, more: true });
    expect(here.read()).toEqual(settings);
    expect(settings).toEqual({
      review: { ci_steps: [], step_timeout_s: 1_800, step_output_bytes: 67_108_864, fresh: true },
      workspace: {
        root: undefined,
        copy: [],
        setup: [],
        teardown: [],
        cache_key: [],
        ports: 10,
        linkFile: undefined,
        submodules: false,
        sparse: true,
        cleanup_hours: 24,
        disk_limit_gb: 50,
        finished_limit: 100,
        rescue_days: 90,
        rescue_limit: 500,
      },
      merge: { target: undefined, strategy: 'merge', auto: false, sign: 'auto', push: 'never' },
      walls: { agents: 'on', checks: 'on', check_caches: 'new', writable: [], hidden: [], shown: [] },
      scheduler: {
        enabled: false,
        per_machine: 32,
        max: 4,
        per_agent: 4,
        per_state: new Map(),
        retry_limit: 3,
        budget_usd: undefined,
        budget_tokens: undefined,
        budget_minutes: undefined,
      },
      runs: { total_minutes: 120, idle_minutes: 15, log_days: 90, log_limit_gb: 2 },
      caps: {
        run_usd: undefined,
        run_tokens: undefined,
        task_usd: undefined,
        task_tokens: undefined,
        task_minutes: undefined,
        project_usd: undefined,
        project_tokens: undefined,
        project_minutes: undefined,
      },
      prices: new Map(),
      attempts: { pick: 'person' },
    });
  });

  it('takes what the config says, and over it, key by key, what the person says', async () => {
    await using here = await place();
    await here.config({
      review: { ci_steps: ['npm test'], step_timeout_s: 60 },
      workspace: { copy: ['.env*'], linkFile: '.forge-task.json', ports: 0, setup: ['npm ci'] },
      merge: { target: 'develop', strategy: 'squash', auto: true, sign: 'always', push: 'after' },
      scheduler: { max: 9, per_state: { review: 2, __proto__: 3 }, budget_usd: 0.5 },
    });
    await here.personal({
      review: { step_timeout_s: 5 },
      workspace: { root: '/big/disk', setup: [] },
      scheduler: { max: 2 },
    });
    const { review, workspace, merge, scheduler } = here.read();
    expect(review).toMatchObject({ ci_steps: ['npm test'], step_timeout_s: 5 });
    expect(workspace).toMatchObject({ root: '/big/disk', copy: ['.env*'], ports: 0, setup: [] });
    expect(workspace.linkFile).toBe('.forge-task.json');
    expect(merge).toEqual({
      target: 'develop',
      strategy: 'squash',
      auto: true,
      sign: 'always',
      push: 'after',
    });
    expect(scheduler).toMatchObject({ max: 2, budget_usd: 0.5, per_state: new Map([['review', 2]]) });
    expect(readPersonalSettings(here.home).review).toMatchObject({ ci_steps: [], step_timeout_s: 5 });
  });

  it('reads the shared copy where the worktree has no config', async () => {
    await using here = await place();
    await here.shared({ merge: { target: 'shared' } });
    expect(here.read().merge.target).toBe('shared');
    await here.config({});
    expect(here.read().merge.target).toBeUndefined();
  });

  it.each([
    [{ review: [] }, 'review is []; allowed is an object'],
    [{ review: { ci_steps: 'npm test' } }, 'review.ci_steps is "npm test"; allowed is a list of commands'],
    [{ review: { ci_steps: [' '] } }, 'review.ci_steps is [" "]'],
    [{ review: { ci_steps: ['a\0b'] } }, 'review.ci_steps is'],
    [{ review: { step_timeout_s: 1.5 } }, 'review.step_timeout_s is 1.5; allowed is a whole number from 1'],
    [{ workspace: { copy: ['../secret'] } }, 'workspace.copy is ["../secret"]'],
    [{ workspace: { copy: ['/etc/passwd'] } }, 'workspace.copy is'],
    // [B3] Patterns that would take for ever to expand or to match.
    [{ workspace: { copy: ['{a,b}'.repeat(24)] } }, 'workspace.copy is'],
    [{ workspace: { copy: ['a'.repeat(257)] } }, 'workspace.copy is'],
    [{ workspace: { copy: ['**/a/'.repeat(8) + 'b'] } }, 'workspace.copy is'],
    [{ workspace: { copy: ['{..,a}/x'] } }, 'workspace.copy is'],
    [{ workspace: { cache_key: ['.git/config'] } }, 'workspace.cache_key is'],
    [{ workspace: { linkFile: '../../x' } }, 'workspace.linkFile is "../../x"'],
    [{ workspace: { ports: LIMITS.port_block + 1 } }, `workspace.ports is ${LIMITS.port_block + 1}`],
    [{ workspace: { submodules: 'yes' } }, 'workspace.submodules is "yes"; allowed is true or false'],
    [{ workspace: { root: '/home/you/.ssh' } }, 'workspace.root is for each machine to say'],
    [{ scheduler: { enabled: true } }, 'scheduler.enabled is for each machine to say'],
    [{ merge: { strategy: 'octopus' } }, 'merge.strategy is "octopus"; allowed is merge, squash, rebase'],
    [{ merge: { sign: true } }, 'merge.sign is true; allowed is auto, always, never'],
    [{ merge: { push: 'always' } }, 'merge.push is "always"; allowed is never, after'],
    [{ merge: { target: '--upload-pack=x' } }, 'merge.target is'],
    [{ scheduler: { max: LIMITS.runs_at_once + 1 } }, `scheduler.max is ${LIMITS.runs_at_once + 1}`],
    [{ scheduler: { per_state: { review: 0 } } }, 'scheduler.per_state is {"review":0}'],
    [{ scheduler: { per_state: [1] } }, 'scheduler.per_state is [1]'],
    [{ scheduler: { budget_usd: -1 } }, 'scheduler.budget_usd is -1; allowed is a number from 0 on'],
    [{ runs: { total_minutes: 0 } }, 'runs.total_minutes is 0'],
    [{ runs: { idle_minutes: 1e99 } }, 'runs.idle_minutes is 1e+99; allowed is a number from 0.01 to 10080'],
    [
      { attempts: { pick: 'best' } },
      'attempts.pick is "best"; allowed is first_green, smallest_green, reviewer, person',
    ],
  ])('refuses %j and says where', async (config, message) => {
    await using here = await place();
    await here.config(config);
    expect(() => here.read()).toThrow(`${join(here.project.paths.forge_dir, 'config.json')}: ${message}`);
  });

  it('takes as many commands of a length as there may be, and no more', async () => {
    await using here = await place();
    const longest = 'x'.repeat(LIMITS.ci_step_length);
    await here.config({ review: { ci_steps: Array.from({ length: LIMITS.ci_steps }, () => longest) } });
    expect(here.read().review.ci_steps).toHaveLength(LIMITS.ci_steps);
    await here.config({ review: { ci_steps: Array.from({ length: LIMITS.ci_steps + 1 }, () => 'x') } });
    expect(() => here.read()).toThrow('review.ci_steps');
    await here.config({ review: { ci_steps: [`${longest}x`] } });
    expect(() => here.read()).toThrow('review.ci_steps');
  });

  it('says which of the two files is wrong, and keeps control characters out of what it says', async () => {
    await using here = await place();
    await here.personal({ runs: { idle_minutes: '\u001b[2J' } });
    const path = join(here.home, 'settings.json');
    expect(() => here.read()).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message: `${path}: runs.idle_minutes is "\\u001b[2J"; allowed is a number from 0.01 to 10080`,
        details: expect.objectContaining({ path, key: 'runs.idle_minutes' }) as unknown,
      }),
    );
    await here.personal({});
    await here.config('{"review": ');
    expect(() => here.read()).toThrow(/config\.json/);
  });
});
