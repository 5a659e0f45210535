import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '../..');

/** Files and packages that importing a file loads: `import type` and `import()` do not count. */
function loadedBy(entry: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const open = [join(SOURCE, entry)];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const name = file.slice(SOURCE.length + 1);
    if (loaded.has(name)) continue;
    loaded.add(name);
    for (const [, specifier] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) (?!type\b)[^;]*?from '([^']+)'/gms,
    )) {
      if (specifier?.startsWith('#')) open.push(join(SOURCE, specifier.slice(1)));
      else if (specifier?.startsWith('.')) open.push(join(dirname(file), specifier));
      else if (specifier !== undefined) loaded.add(specifier);
    }
  }
  return loaded;
}

describe('the cold path', () => {
  const loaded = loadedBy('surfaces/cli/run-cli.ts');
  it('of runCli loads nothing but the quick parser and the kernel', () => {
    const outside = [...loaded].filter((name) => !/^(?:kernel|operations|surfaces\/cli)\//.test(name));
    expect(outside).toEqual([]);
    expect([...loaded].filter((name) => name.startsWith('operations/')).toSorted()).toEqual([
      'operations/accept-argv.ts',
      'operations/assemble-input.ts',
      'operations/field-value.ts',
      'operations/flag-table.ts',
      'operations/read-assignments.ts',
    ]);
    expect([...loaded].filter((name) => name.startsWith('surfaces/')).toSorted()).toEqual([
      'surfaces/cli/check-argv.ts',
      'surfaces/cli/run-cli.ts',
      'surfaces/cli/terminal.ts',
    ]);
  });
  it('of the real process adds only files of Node', () => {
    const more = [...loadedBy('surfaces/cli/process-io.ts')].filter(
      (name) => !/^(?:kernel|surfaces\/cli)\//.test(name),
    );
    expect(more).toEqual(['node:fs']);
  });
  it('of the table and the manifest loads nothing', () => {
    expect([...loadedBy('operations/flag-table.generated.ts')]).toEqual([
      'operations/flag-table.generated.ts',
    ]);
    expect([...loadedBy('operations/manifest.generated.ts')]).toEqual(['operations/manifest.generated.ts']);
  });
  it('of the slow parser does load them: the test can see it', () => {
    expect(loadedBy('surfaces/cli/commander-parser.ts')).toContain('commander');
    expect(loadedBy('surfaces/cli/commander-parser.ts')).toContain('zod');
  });
});
