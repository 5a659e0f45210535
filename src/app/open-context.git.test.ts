import { existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeProjectHere } from '../../tests/support/forge-here.ts';
import { openContext, type ContextRequest } from './open-context.ts';

const quiet = (): void => undefined;

/** A context in a project whose link to the database somebody has cleaned away. */
async function openWithoutLink(request: Pick<ContextRequest, 'reads' | 'operation'>) {
  const project = await forgeProjectHere();
  const link = join(project.path, '.forge/forge.db');
  rmSync(link);
  const shared = { needs: 'project', cwd: project.path, env: project.env, actor: 'user:ann' } as const;
  const ctx = await openContext({ ...shared, ...request, progress: quiet, notice: quiet, meter: quiet });
  return {
    ctx,
    isLinked: () => lstatSync(link, { throwIfNoEntry: false }) !== undefined,
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

describe('what others rely on', () => {
  it('is kept up once, before a command that may write begins', async () => {
    await using open = await openWithoutLink({});
    expect(open.isLinked()).toBe(true);
  });

  it('keeps no command from its work where it cannot be kept up', async () => {
    await using project = await forgeProjectHere();
    const notices: string[] = [];
    const shared = join(project.path, '.git/forge/config.json');
    rmSync(shared);
    // Nothing can be put into the place of a folder.
    mkdirSync(join(shared, 'in-the-way'), { recursive: true });
    await using ctx = await openContext({
      needs: 'project',
      cwd: project.path,
      env: project.env,
      actor: 'user:ann',
      progress: quiet,
      notice: (line) => notices.push(line),
      meter: quiet,
    });
    expect(await ctx.project.store.readPause()).toBeNull();
    expect(notices.join()).toMatch(/the next command tries again/);
  });

  it.each([
    { what: 'a read', request: { reads: true } },
    { what: 'doctor, which tells what it finds', request: { operation: 'project.doctor' } },
  ])('is left as it is by $what, also when it asks who asks', async ({ request }) => {
    await using open = await openWithoutLink(request);
    expect(await open.ctx.actor()).toMatchObject({ kind: 'user', name: 'ann' });
    expect(existsSync(open.ctx.project.paths.store_dir)).toBe(true);
    expect(open.isLinked()).toBe(false);
  });
});
