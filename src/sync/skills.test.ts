import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { listSkills } from './skills.ts';

describe('skills', () => {
  it('are the folders with a SKILL.md, of the project before those of the home', async () => {
    await using folder = await tempFolder();
    const forge = join(folder.path, '.forge');
    const home = join(folder.path, 'home');
    expect(listSkills(forge, home)).toEqual([]);
    await folder.write(
      '.forge/skills/review/SKILL.md',
      '---\nname: review\ndescription: Read twice\n---\nText\n',
    );
    await folder.write('home/skills/review/SKILL.md', '---\nname: review\ndescription: Mine\n---\n');
    await folder.write('home/skills/deploy/SKILL.md', 'No front matter');
    await folder.write('home/skills/empty/README.md', 'no skill');
    await folder.write('home/skills/file.md', 'no folder');
    expect(listSkills(forge, home)).toEqual([
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
    expect(listSkills(forge, join(folder.path, 'home'))).toEqual([]);
  });
});
