import { expect, it } from 'vitest';
import { toIdentityFacts, toProjectId } from './project-id.ts';

const OLDER = { projectId: undefined, idPrefix: 'fg', created_at: '2026-02-18T00:00:00.000Z' };

it('is what the config says, and for an older project the same in every clone', () => {
  const projectId = '7c12fc26-496c-4d7a-8b00-cbe469a023f5';
  expect(toProjectId({ ...OLDER, projectId })).toBe(projectId);
  expect(toProjectId(OLDER)).toBe('4efe6d99-7164-851a-8166-1f0ca1fd0292');
  expect(toProjectId({ ...OLDER, idPrefix: 'ab' })).not.toBe(toProjectId(OLDER));
  expect(toIdentityFacts(OLDER)).toEqual({ project_id: undefined, first_project_id: toProjectId(OLDER) });
});
