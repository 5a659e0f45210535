import { constants, lstatSync, opendirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS } from '#kernel/limits.ts';
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
/** A pipe is opened without waiting for its writer. */
const READ_NO_LINK = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * By name; of two of one name the project's. What cannot be read is left out, because no person asked for that one. A
 * repository brings as many as it likes: of each the head is read, and of the folders the first ones by name.
 */
export async function listSkills(forgeDir: string, home: string): Promise<Skill[]> {
  const found = new Map<string, Skill>();
  const all = [
    ...(await readSkills(join(home, 'skills'), 'home')),
    ...(isLink(forgeDir) ? [] : await readSkills(join(forgeDir, 'skills'), 'project')),
  ];
  for (const skill of all) found.set(skill.name, skill);
  return [...found.values()].toSorted((a, b) => compareText(a.name, b.name));
}

async function readSkills(folder: string, from: Skill['from']): Promise<Skill[]> {
  // A person may keep the folder of the home elsewhere.
  if (from === 'project' && isLink(folder)) return [];
  const skills: Skill[] = [];
  for (const folderName of listFolders(folder)) {
    const path = join(folder, folderName, 'SKILL.md');
    const text = await readHead(path);
    if (text === undefined) continue;
    const fields = parseFrontmatter(text)?.fields;
    const name = fields?.get('name');
    const description = fields?.get('description');
    skills.push({
      name: typeof name === 'string' && name !== '' ? name.slice(0, LONGEST_NAME) : folderName,
      description: typeof description === 'string' ? description : '',
      from,
      path,
    });
  }
  return skills;
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** As many as are looked at, of so many entries that the folder may have. */
function listFolders(folder: string): string[] {
  try {
    using entries = opendirSync(folder);
    const names: string[] = [];
    for (let at = 0; at < LIMITS.skill_entries; at += 1) {
      const entry = entries.readSync();
      if (entry === null) break;
      if (entry.isDirectory()) names.push(entry.name);
    }
    return names.toSorted(compareText).slice(0, LIMITS.skills);
  } catch {
    return [];
  }
}

/** The first bytes of a regular file. A link in a repository could lead anywhere: it is not followed. */
async function readHead(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, READ_NO_LINK);
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > LARGEST_BYTES) return undefined;
    const bytes = Buffer.alloc(Math.min(facts.size, LIMITS.skill_head_bytes));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString('utf8', 0, bytesRead);
  } catch {
    return undefined;
  }
}
