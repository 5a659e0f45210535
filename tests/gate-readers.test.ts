import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { findGateReads, GATE_READERS } from './support/gate-readers.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const sources = globSync('src/**/*.ts', { cwd: ROOT })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => !path.endsWith('.test.ts'));

describe('who reads config, workflow, mode or data branch', () => {
  it('is listed with how it leaves out what an attempt wrote that nobody has merged', () => {
    const readers = sources.filter((path) => findGateReads(read(path)).length > 0);
    // A new one asks GateFiles, findGatePaths or confirmConfig, and says so in the table.
    expect(readers.toSorted()).toEqual(Object.keys(GATE_READERS).toSorted());
  });

  it('asks where it says that it asks', () => {
    const asks = /\b(?:GateFiles|findGatePaths)\b/;
    const silent = Object.entries(GATE_READERS).filter(
      ([path, how]) => how.startsWith('asks GateFiles') && !asks.test(read(path)),
    );
    expect(silent).toEqual([]);
  });
});

// A checker that sees nothing passes too.
describe('planted readers are seen', () => {
  test.each([
    ['the workflow past the check', `const { text } = findWorkflow(ctx.project.paths);`],
    ['settings past the check', `const caps = toCaps(readWorkSettings(project, home));`],
    ['the config by its path', `const text = readFileSync(paths.config, 'utf8');`],
    ['the config by its name', `const text = readFileSync(join(root, '.forge', 'config.json'), 'utf8');`],
    ['the workflow by its name', 'const text = readFileSync(`${root}/.forge/workflow.json`);'],
    ['the config of a revision', `const bytes = await readBlob(repo, rev, CONFIG_PATH);`],
    ['the project that a branch holds', `const { data } = await findSharedProjects(repo);`],
  ])('%s', (_name, source) => {
    expect(findGateReads(source)).not.toEqual([]);
  });

  test.each([
    ['a comment', `/** As findWorkflow does for 'config.json'. */\nexport const a = 1;`],
    ['a sentence', `const hint = 'Correct workspace.setup in .forge/config.json by hand';`],
    ['what was opened and confirmed', `const { idPrefix } = ctx.project.config;`],
  ])('%s is none', (_name, source) => {
    expect(findGateReads(source)).toEqual([]);
  });
});
