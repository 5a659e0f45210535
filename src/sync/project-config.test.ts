import { describe, expect, it } from 'vitest';
import { Priority, TASK_TYPES } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
import { CONFIG_PRIORITIES, CONFIG_TASK_TYPES, isProjectName, parseProjectConfig } from './project-config.ts';

const PATH = '/home/ada/p/.forge/config.json';
const GOOD = { name: 'My Project', idPrefix: 'myp', version: 1, created_at: '2026-02-18T00:00:00.000Z' };

function parse(changes: Record<string, unknown> = {}) {
  return parseProjectConfig(JSON.stringify({ ...GOOD, ...changes }), PATH);
}

/** The error's own fields, or a failed expectation where nothing was thrown. */
function faultOf(run: () => unknown): Record<string, unknown> {
  try {
    run();
  } catch (error) {
    const { code, message, hint, details } = error as Record<string, unknown>;
    return { code, message, hint, details };
  }
  return expect.fail('nothing was thrown');
}

describe('parseProjectConfig', () => {
  it('[S4] reads name, idPrefix, version and created_at, and fills in the rest', () => {
    expect(parse()).toEqual({
      ...GOOD,
      settings: { defaultPriority: 2, defaultType: 'task', gcOnExport: true },
      ready: { excludeTypes: [] },
      sync: { exportOn: 'every-branch' },
      initMode: 'standard',
      branchName: undefined,
      mode_changed_at: undefined,
    });
  });

  it('takes every setting that is there', () => {
    const settings = { defaultPriority: 0, defaultType: 'bug', gcOnExport: false };
    const ready = { excludeTypes: ['epic', 'message'] };
    const sync = { exportOn: 'default-branch' };
    const mode = { initMode: 'branch', branchName: 'forge-data' };
    const wanted = { ...GOOD, settings, ready, sync, ...mode };
    expect(parse({ settings, ready, sync, ...mode })).toEqual(wanted);
    expect(parse({ settings: { defaultPriority: 4 }, ready: {} }).settings).toEqual({
      defaultPriority: 4,
      defaultType: 'task',
      gcOnExport: true,
    });
  });

  it('wants the name of the branch in branch mode, and looks at it in no other', () => {
    for (const branchName of ['', 3, {}, undefined]) {
      const { code, details } = faultOf(() => parse({ initMode: 'branch', branchName }));
      expect({ code, details }).toMatchObject({ code: 'invalid_input', details: { key: 'branchName' } });
      expect(parse({ branchName }).branchName).toBeUndefined();
    }
  });

  it('leaves the keys of others alone', () => {
    const others = {
      initMode: 'branch',
      branchName: 'forge-data',
      issueTracker: { provider: 'github', config: {} },
      settings: { colour: 'blue' },
      ready: { someday: 1 },
      team: null,
    };
    expect(parse(others).settings.defaultPriority).toBe(2);
    const text = `{"big":12345678901234567890,"__proto__":{"name":"x"},${JSON.stringify(GOOD).slice(1)}`;
    expect(parseProjectConfig(text, PATH).name).toBe('My Project');
  });

  it('[S395] takes four providers of issueTracker, and refuses the rest with the key', () => {
    for (const provider of ['github', 'linear', 'jira', 'none', undefined])
      expect(parse({ issueTracker: { provider, config: { any: 1 } } }).name).toBe('My Project');
    for (const provider of ['gitlab', 'GitHub', '', 3, null, ['github']])
      expect(faultOf(() => parse({ issueTracker: { provider } }))).toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('allowed is github, linear, jira, none'),
        details: { path: PATH, key: 'issueTracker.provider' },
      });
    for (const issueTracker of [null, [], 'github', 3])
      expect(faultOf(() => parse({ issueTracker }))).toMatchObject({ details: { key: 'issueTracker' } });
  });

  it('skips a byte order mark', () => {
    expect(parseProjectConfig(`\uFEFF${JSON.stringify(GOOD)}`, PATH).idPrefix).toBe('myp');
  });

  it.each([
    ['name', ['', '  ', 'a\nb', 'a\u0000', 5, null, undefined, 'x'.repeat(LIMITS.project_name_length + 1)]],
    ['version', [0, -1, 1.5, '1', null, undefined, true]],
    ['created_at', ['yesterday', '', 1_700_000_000_000, null, undefined]],
    ['settings', [null, [], 'none', 3]],
    ['ready', [null, [], 'none', 3]],
    ['sync', [null, [], 'none', 3]],
    ['initMode', ['', 'Standard', 'hidden', 3, null]],
  ])('refuses a bad %s', (key, values) => {
    for (const value of values) {
      expect(faultOf(() => parse({ [key]: value }))).toEqual({
        code: 'invalid_input',
        message: expect.stringMatching(new RegExp(`^${PATH}: ${key} is .*; allowed is `)),
        hint: expect.stringContaining('git log'),
        details: { path: PATH, key, allowed: expect.any(String) },
      });
    }
  });

  it('[S113] refuses an idPrefix that is not 2 to 4 lower-case letters or digits', () => {
    for (const value of ['f', 'TOOLONG', 'FG', 'fgfgf', 'f-g', 'fé', '', ' fg', 12, null, undefined]) {
      expect(faultOf(() => parse({ idPrefix: value }))).toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('allowed is 2 to 4 lower-case letters or digits'),
        details: { path: PATH, key: 'idPrefix' },
      });
    }
    for (const value of ['fg', 'a1b2', '00']) expect(parse({ idPrefix: value }).idPrefix).toBe(value);
  });

  it.each([
    ['settings', 'defaultPriority', [5, -1, 2.5, '2', null, [2]], 'a whole number from 0 to 4'],
    ['settings', 'defaultType', ['chore', 'Task', 1, null], 'task, bug, feature, epic, message'],
    ['settings', 'gcOnExport', ['true', 1, null, {}], 'true or false'],
    [
      'ready',
      'excludeTypes',
      ['epic', ['chore'], [1], {}, null],
      'a list of task, bug, feature, epic, message',
    ],
  ])('refuses a bad %s.%s instead of passing over it', (group, key, values, allowed) => {
    for (const value of values) {
      expect(faultOf(() => parse({ [group]: { [key]: value } }))).toMatchObject({
        code: 'invalid_input',
        message: `${PATH}: ${group}.${key} is ${JSON.stringify(value)}; allowed is ${allowed}`,
        details: { path: PATH, key: `${group}.${key}`, allowed },
      });
    }
  });

  it('[S118] says that a newer Forge wrote it, whatever else the file holds', () => {
    expect(faultOf(() => parse({ version: 2, name: 7, settings: [] }))).toEqual({
      code: 'schema_newer',
      message: `${PATH} was written by a newer Forge: version is 2, this Forge knows 1`,
      hint: 'Update Forge, then run the command again',
      details: { path: PATH, version: 2, known: 1 },
    });
  });

  it.each(['', '{', 'null', '[]', '"x"', '{"name":}'])('refuses the file %j', (text) => {
    const fault = faultOf(() => parseProjectConfig(text, PATH));
    expect(fault).toMatchObject({ code: 'invalid_input', details: { path: PATH } });
    expect(fault['message']).toMatch(
      /^\/home\/ada\/p\/\.forge\/config\.json (?:is not valid JSON: |does not hold)/,
    );
  });

  it('knows a merge conflict, and shows a message of one line', () => {
    const text = '{\n<<<<<<< HEAD\n"name": "a"\n=======\n"name": "b"\n>>>>>>> x\n}';
    const fault = faultOf(() => parseProjectConfig(text, PATH));
    expect(fault['hint']).toBe('Resolve the merge conflict in it');
    expect(fault['message']).not.toContain('\n');
  });

  it('does not repeat a long or dangerous value in full', () => {
    const { message } = faultOf(() => parse({ idPrefix: `\u202e${'x'.repeat(5000)}` }));
    expect(String(message).length).toBeLessThan(200);
    expect(message).not.toContain('\u202e');
  });
});

describe('the lists', () => {
  it('are those of the contract', () => {
    expect(CONFIG_TASK_TYPES).toEqual(TASK_TYPES);
    const numbers = Array.from({ length: 20 }, (_, index) => index - 10);
    expect(CONFIG_PRIORITIES).toEqual(numbers.filter((number) => Priority.safeParse(number).success));
  });
});

describe('isProjectName', () => {
  it('takes any one line that is not blank', () => {
    for (const name of ['x', 'My Project', 'プロジェクト', 'a: "b" \\ c', 'x'.repeat(200)]) {
      expect(isProjectName(name)).toBe(true);
    }
    for (const name of ['', '\t', 'a\u007fb', '\ud800', 'x'.repeat(201)])
      expect(isProjectName(name)).toBe(false);
  });
});
