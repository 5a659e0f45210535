import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareText } from '#kernel/text.ts';
import { parseFrontmatter } from './trackers/parse-frontmatter.ts';

/** A folder with a SKILL.md: what an agent can be taught. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly from: 'project' | 'home';
  /** Of the SKILL.md. */
  readonly path: string;
}

/** More than that is no description of a skill. */
const LARGEST_BYTES = 1_048_576;
const LONGEST_NAME = 200;

/** By name; of two of one name the project's. What cannot be read is left out, because nobody asked for that one. */
export function listSkills(forgeDir: string, home: string): Skill[] {
  const found = new Map<string, Skill>();
  const all = [
    ...readSkills(join(home, 'skills'), 'home'),
    ...readSkills(join(forgeDir, 'skills'), 'project'),
  ];
  for (const skill of all) found.set(skill.name, skill);
  return [...found.values()].toSorted((a, b) => compareText(a.name, b.name));
}

function readSkills(folder: string, from: Skill['from']): Skill[] {
  return readFolders(folder).flatMap((folderName) => {
    const path = join(folder, folderName, 'SKILL.md');
    const text = readRegularFile(path);
    if (text === undefined) return [];
    const fields = parseFrontmatter(text)?.fields;
    const name = fields?.get('name');
    const description = fields?.get('description');
    return [
      {
        name: typeof name === 'string' && name !== '' ? name.slice(0, LONGEST_NAME) : folderName,
        description: typeof description === 'string' ? description : '',
        from,
        path,
      },
    ];
  });
}

function readFolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .toSorted(compareText);
  } catch {
    return [];
  }
}

/** A link in a repository could lead anywhere: it is not followed. */
function readRegularFile(path: string): string | undefined {
  try {
    const facts = lstatSync(path);
    return facts.isFile() && facts.size <= LARGEST_BYTES ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
