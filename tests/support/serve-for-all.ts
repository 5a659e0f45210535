import { afterAll, beforeAll } from 'vitest';
import { forgeProjectHere } from './forge-here.ts';
import { startForgeServer, type ForgeServer } from './forge-server.ts';

export interface Served {
  readonly project: Awaited<ReturnType<typeof forgeProjectHere>>;
  readonly server: ForgeServer;
}

/** A project with a server for all tests of this file, or of this `describe`: a start takes longer than most of them. */
export function serveForAll(use: (served: Served) => void): void {
  const opened = new AsyncDisposableStack();
  beforeAll(async () => {
    const project = opened.use(await forgeProjectHere());
    use({ project, server: opened.use(await startForgeServer(project)) });
  });
  afterAll(() => opened.disposeAsync());
}
