import { describe, expect, it } from 'vitest';
import { ScriptModel, type EndState, type Line } from './support/script-model.ts';

const TASK = 'fg-1';
const TITLE = { task: TASK, field: 'title', how: 'command' } as const;

function stateWith(values: Partial<Line>, lost: readonly string[] = []): EndState {
  const line: Line = { id: TASK, title: 'T', ...values };
  const conflicts = lost.map((value) => ({ id: TASK, name: 'title', lost: value }));
  return { clone: 'a', tasks: new Map([[TASK, line]]), conflicts };
}

/** Made as T; `a` writes A, and `b` writes B, having seen what `saw` says. */
function twoTitles(saw: string): ScriptModel {
  const model = new ScriptModel();
  model.wrote({ ...TITLE, clone: 'a' }, 'T', undefined);
  model.hears('b');
  model.wrote({ ...TITLE, clone: 'a' }, 'A', 'T');
  if (saw === 'A') model.hears('b');
  model.wrote({ ...TITLE, clone: 'b' }, 'B', saw);
  return model;
}

describe('the model of a history', () => {
  it('misses a value that neither stands nor is told', () => {
    const model = twoTitles('T');
    expect(model.judge([stateWith({ title: 'B' }, ['A'])])).toEqual({ lost: [], reverted: [] });
    expect(model.judge([stateWith({ title: 'B' })]).lost).toEqual([expect.stringContaining('title A')]);
    expect(model.judge([stateWith({ title: 'A' })]).lost).toEqual([expect.stringContaining('title B')]);
  });

  it('misses no value that a writer who saw it replaced', () => {
    expect(twoTitles('A').judge([stateWith({ title: 'B' })])).toEqual({ lost: [], reverted: [] });
  });

  it('sees a replaced value that stands again', () => {
    expect(twoTitles('A').judge([stateWith({ title: 'A' }, ['B'])])).toMatchObject({
      lost: [],
      reverted: [expect.stringContaining('title A')],
    });
    expect(twoTitles('A').judge([stateWith({ title: 'T' }, ['B'])]).reverted).toHaveLength(1);
  });

  it('misses no text that was replaced, also where another writer wrote it again', () => {
    const model = twoTitles('T');
    model.wrote({ ...TITLE, clone: 'a' }, 'T', 'A');
    expect(model.judge([stateWith({ title: 'B' })]).lost).toEqual([]);
    expect(model.judge([stateWith({ title: 'T' }, ['B'])])).toEqual({ lost: [], reverted: [] });
  });

  it('asks nothing of an edit that git threw away before Forge saw it', () => {
    const model = new ScriptModel();
    model.wrote({ ...TITLE, clone: 'a' }, 'T', undefined);
    model.wrote({ ...TITLE, clone: 'a' }, 'A', 'T').isDoubtful = true;
    for (const title of ['A', 'T'])
      expect(model.judge([stateWith({ title })])).toEqual({ lost: [], reverted: [] });
  });

  it('asks nothing of an edit that was changed back before Forge saw it', () => {
    const model = twoTitles('T');
    const place = { ...TITLE, clone: 'a', how: 'edit' };
    const first = model.edited(place, { value: 'E', saw: 'A', unseen: [] });
    model.edited(place, { value: 'A', saw: 'E', unseen: [first] });
    expect(model.judge([stateWith({ title: 'B' }, ['A'])]).lost).toEqual([]);
    expect(model.judge([stateWith({ title: 'A' }, ['B'])])).toEqual({ lost: [], reverted: [] });
    expect(model.judge([stateWith({ title: 'A' })]).lost).toEqual([expect.stringContaining('title B')]);
  });

  it('misses tasks, comments and a status', () => {
    const model = twoTitles('A');
    model.commented(TASK, 'hello');
    model.moved(TASK, 'a', 'closed');
    const comments = [{ text: 'hello' }];
    expect(model.judge([stateWith({ title: 'B', comments, status: 'closed' })]).lost).toEqual([]);
    expect(model.judge([stateWith({ title: 'B', comments, status: 'open' })]).lost).toHaveLength(1);
    expect(model.judge([stateWith({ title: 'B', status: 'closed' })]).lost).toHaveLength(1);
    expect(model.judge([{ ...stateWith({}), tasks: new Map() }]).lost).toContain(`a: ${TASK} is gone`);
  });

  it('misses labels, and sees those that came back', () => {
    const { labels } = new ScriptModel();
    labels.changed({ task: TASK, label: 'x', what: 'added', clone: 'a' });
    expect(labels.judge(stateWith({ labels: [] }))).toHaveLength(1);
    expect(labels.judge(stateWith({ labels: ['x'] }))).toEqual([]);
    labels.changed({ task: TASK, label: 'x', what: 'removed', clone: 'b' });
    expect(labels.judge(stateWith({ labels: ['x'] }))).toHaveLength(1);
    expect(labels.judge(stateWith({ labels: [] }))).toEqual([]);
    // One who adds it again without knowing that it was removed: both ends are right.
    labels.changed({ task: TASK, label: 'x', what: 'added', clone: 'c' });
    for (const label of [[], ['x']]) expect(labels.judge(stateWith({ labels: label }))).toEqual([]);
  });
});
