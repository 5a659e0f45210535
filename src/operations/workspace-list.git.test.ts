import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startProjectHttp } from '../../tests/support/http-server.ts';
import { runHere } from '../../tests/support/run-here.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import { tempWorkshop } from '../../tests/support/temp-workshop.ts';
import type { OperationContext } from './operation.ts';
import { createWorkspaceList } from './workspace-list.ts';

it('[L12] twelve who ask a server at once, and one after them, have each worktree walked once', async () => {
  await using temp = await tempWorkshop();
  temp.addAgent('ada', 'echo new > "$FORGE_TASK_ID.txt"');
  for (const title of ['one', 'two']) await temp.work(await temp.create(title, { steps: ['true'] }), 'ada');
  const walked: string[] = [];
  const list = createWorkspaceList(
    async (path) => walked.push(path),
    () => 0,
  );
  // Only what is used of it.
  const ctx = { workshop: async () => temp.workshop, stays: true } as unknown as OperationContext;
  const first = await Promise.all(Array.from({ length: 12 }, () => list.run(ctx, {})));
  const answers = [...first, await list.run(ctx, {})];
  const paths = answers[0]?.workspaces.map(({ path }) => path) ?? [];
  expect(paths.filter((path) => existsSync(path))).toHaveLength(2);
  expect(walked).toEqual(paths);
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  // Who does not stay keeps nothing for the next.
  const once = { ...ctx, stays: false };
  await list.run(once, {});
  await list.run(once, {});
  expect(walked).toHaveLength(3 * paths.length);
});

it('[L12] a server tells again what it has measured, as long as its clock stands', async () => {
  await using http = await startProjectHttp();
  vi.stubGlobal('performance', { now: () => 0 });
  onTestFinished(() => void vi.unstubAllGlobals());
  const token = http.admin;
  runTestGit(http.root, ['commit', '--quiet', '--allow-empty', '-m', 'first']);
  const opened = await runHere(['workspace', 'open'], { cwd: http.root, env: http.env });
  expect(opened).toMatchObject({ exit: 0, stderr: '' });
  const list = async () => (await http.ask({ path: '/api/v1/workspaces', token })).json as Listed;
  const before = await list();
  expect(before.workspaces).toHaveLength(1);
  writeFileSync(join(before.workspaces[0]?.path ?? '', 'large'), Buffer.alloc(1_000_000, 1));
  expect(await list()).toEqual(before);
});

interface Listed {
  readonly workspaces: readonly { readonly path: string }[];
}
