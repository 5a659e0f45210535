import { toUuid } from '#store/to-uuid.ts';
import type { IdentityFacts } from '#store/store-identity.ts';
import type { ProjectConfig } from './project-config.ts';

type Beginning = Pick<ProjectConfig, 'projectId' | 'idPrefix' | 'created_at'>;

/**
 * The project's own id, the same in every clone. A project that is older than such ids has one by what its config says
 * of its beginning, which every clone has too; no file is written for it.
 */
export function toProjectId(config: Beginning): string {
  return config.projectId ?? toFirstId(config);
}

/** What a store is told of its project. */
export function toIdentityFacts(config: Beginning): Omit<IdentityFacts, 'modes'> {
  return { project_id: config.projectId, first_project_id: toFirstId(config) };
}

function toFirstId({ idPrefix, created_at }: Beginning): string {
  return toUuid(`project ${idPrefix} ${created_at}`);
}
