import { linkSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { listSkills } from './skills.ts';

describe('skills', () => {
  it('are the folders with a SKILL.md, of the project before those of the home', async () => {
    await using folder = await tempFolder();
    const forge = join(folder.path, '.forge');
    const home = join(folder.path, 'home');
    expect(await listSkills(forge, home)).toEqual([]);
    await folder.write(
      '.forge/skills/review/SKILL.md',
      '---\nname: review\ndescription: Read twice\n---\nText\n',
    );
    await folder.write('home/skills/review/SKILL.md', '---\nname: review\ndescription: Mine\n---\n');
    await folder.write('home/skills/deploy/SKILL.md', 'No front matter');
    await folder.write('home/skills/empty/README.md', 'no skill');
    await folder.write('home/skills/file.md', 'no folder');
    expect(await listSkills(forge, home)).toEqual([
      { name: 'deploy', description: '', from: 'home', path: join(home, 'skills/deploy/SKILL.md') },
      {
        name: 'review',
        description: 'Read twice',
        from: 'project',
        path: join(forge, 'skills/review/SKILL.md'),
      },
    ]);
  });

  it('are never what a link leads to', async () => {
    await using folder = await tempFolder();
    const forge = join(folder.path, '.forge');
    await folder.write('secret', '---\nname: stolen\n---\n');
    await folder.write('.forge/skills/linked/other.md', '');
    symlinkSync(join(folder.path, 'secret'), join(forge, 'skills/linked/SKILL.md'));
    symlinkSync(folder.path, join(forge, 'skills/whole'));
    expect(await listSkills(forge, join(folder.path, 'home'))).toEqual([]);
  });

  it('are not read where the folder of a repository is a link out of it; the person’s own may be one', async () => {
    await using folder = await tempFolder();
    await folder.write('private/thing/SKILL.md', '---\nname: private-thing\n---\n');
    const [forge, home] = [join(folder.path, '.forge'), join(folder.path, 'home')];
    for (const parent of [forge, home]) {
      mkdirSync(parent);
      symlinkSync(join(folder.path, 'private'), join(parent, 'skills'));
    }
    expect((await listSkills(forge, home)).map(({ from }) => from)).toEqual(['home']);
    symlinkSync(home, join(folder.path, 'linked'));
    expect(await listSkills(join(folder.path, 'linked'), join(folder.path, 'none'))).toEqual([]);
  });

  it('are read as far as their heads, and as many as the limit, with other work in between', async () => {
    await using folder = await tempFolder();
    const forge = join(folder.path, '.forge');
    await folder.write('first', `---\nname: x\ndescription: y\n---\n${'a'.repeat(1_000_000)}`);
    const names = Array.from({ length: LIMITS.skills + 3 }, (_, at) => `s${1_000 + at}`);
    for (const name of names) {
      mkdirSync(join(forge, 'skills', name), { recursive: true });
      linkSync(join(folder.path, 'first'), join(forge, 'skills', name, 'SKILL.md'));
    }
    rmSync(join(forge, 'skills/s1001/SKILL.md'));
    // A head that does not end in time is none, and the skill has the name of its folder.
    await folder.write('.forge/skills/s1001/SKILL.md', `---\nname: z\nlong: ${'b'.repeat(100_000)}\n---\n`);
    rmSync(join(forge, 'skills/s1002/SKILL.md'));
    await folder.write('.forge/skills/s1002/SKILL.md', '---\nname: w\n---\n');
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const skills = await listSkills(forge, join(folder.path, 'home'));
    clearInterval(timer);
    expect(skills.map(({ name }) => name)).toEqual(['s1001', 'w', 'x']);
    // Of one name the last counts: it is the last of those that are read.
    expect(skills.at(-1)?.path).toContain(names[LIMITS.skills - 1]);
    expect(turns).toBeGreaterThan(0);
  });
});
