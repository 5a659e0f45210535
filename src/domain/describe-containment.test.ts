import { describe, expect, it } from 'vitest';
import { describeContainment } from './describe-containment.ts';

describe('[A11] what holds runs is said', () => {
  it.each([
    [
      'pid_namespace',
      false,
      true,
      /^a process namespace and a control group: the kernel ends every run/,
      false,
    ],
    ['pid_namespace', true, false, /^a process namespace: .* nobody's: sudo does not work/, false],
    ['bubblewrap', true, false, /^a process namespace by bubblewrap: /, false],
    ['cgroup', false, true, /^a control group and a guard process .* moves itself to another/, false],
    ['marker', false, false, /^a guard process alone .* is not found and outlives both/, true],
  ] as const)('%s, users %s, group %s', (kind, of_users, cgroup, message, weak) => {
    const said = describeContainment({ kind, of_users, cgroup });
    expect(said.message).toMatch(message);
    expect(said.hint !== undefined).toBe(weak);
  });
});
