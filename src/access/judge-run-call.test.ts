import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { judgeRunCall, type RunVerdict } from './judge-run-call.ts';

function judge(operation: string, input: Readonly<Record<string, unknown>>): RunVerdict {
  const access = OPERATIONS.find(({ name }) => name === operation)?.access ?? 'admin';
  return judgeRunCall({ operation, access, input, agent: 'ada' });
}

/** Everything that a run may do besides reading. */
const MAY = ['task.comment', 'task.heartbeat', 'task.update', 'task.create', 'dep.add'];

describe('[A2] an agent inside of its run', () => {
  it('may write by these operations alone, and a new one is closed to it', () => {
    const writes = OPERATIONS.filter(({ access }) => access !== 'read').map(({ name }) => name);
    const inputs = [{ id: 'fg-a' }, { from_id: 'fg-a' }, { title: 'x' }];
    const isOpen = (name: string): boolean =>
      inputs.some((input) => judge(name, input).outcome !== 'refused');
    const open = writes.filter(isOpen);
    expect(open.toSorted()).toEqual(MAY.toSorted());
    expect(judge('task.invented', { id: 'fg-a' }).outcome).toBe('refused');
  });

  it('reads what the project has', () => {
    const reads = OPERATIONS.filter(({ access }) => access === 'read').map(({ name }) => judge(name, {}));
    expect(new Set(reads.map(({ outcome }) => outcome))).toEqual(new Set(['allowed']));
  });

  it.each([
    ['task.update', { review_config: null }],
    ['task.update', { review_config: { ci_steps: ['true'] } }],
    ['task.update', { status: 'closed' }],
    ['task.update', { status: 'in_progress', assignee: 'ada' }],
    ['task.update', { assignee: null }],
    ['task.update', { state: 'backlog' }],
    ['task.update', { priority: 0 }],
    ['task.update', { parent_id: null }],
    ['task.create', { title: 'x', review_config: { ci_steps: ['true'] } }],
    ['task.create', { title: 'x', assignee: 'bob' }],
    ['dep.add', { from_id: 'fg-a', to_id: 'fg-b', force: true }],
    ['task.comment', { id: 7 }],
  ])('cannot do %s with %j', (operation, input) => {
    const id = operation === 'task.update' && { id: 'fg-a' };
    expect(judge(operation, { ...id, ...input })).toMatchObject({ outcome: 'refused' });
  });

  it.each([
    ['task.update', { id: 'fg-a' }, 'description labels_add labels_remove metadata_set metadata_unset title'],
    [
      'task.create',
      { title: 'x' },
      'depends_on description github_issue labels metadata_set parent_id priority state type',
    ],
    ['dep.add', { from_id: 'fg-a' }, 'to_id type'],
  ])(
    'sets by %s what is no say in how work is judged, and a new field is closed to it',
    (name, input, may) => {
      const shape = OPERATIONS.find((one) => one.name === name)?.input.shape ?? {};
      const fields = Object.keys(shape).filter(
        (field) => !(field in input) && !/^(version|fence)$/.test(field),
      );
      const open = fields.filter((field) => judge(name, { ...input, [field]: 'x' }).outcome !== 'refused');
      expect(open.toSorted().join(' ')).toBe(may);
    },
  );

  it('notes things on its own task, and describes what it has created', () => {
    const own = { outcome: 'if_own', id: 'fg-a', own: true, made: true };
    expect(judge('task.update', { id: 'fg-a', metadata_set: { at: 'half' }, fence: 3 })).toEqual(own);
    expect(judge('task.update', { id: 'fg-a', title: 'Less' })).toEqual({ ...own, own: false });
    expect(judge('task.comment', { id: 'fg-a', body: 'x' })).toEqual(own);
    expect(judge('task.heartbeat', { id: 'fg-a' })).toEqual({ ...own, made: false });
    expect(judge('dep.add', { from_id: 'fg-a', to_id: 'fg-b', type: 'related' })).toEqual(own);
    expect(judge('task.create', { title: 'Found', parent_id: 'fg-a', assignee: 'ada' })).toEqual(own);
    expect(judge('task.create', { title: 'Found', parent_id: null }).outcome).toBe('allowed');
  });
});
