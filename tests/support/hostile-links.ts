import { executable, type HostileRepository } from './hostile-repository.ts';

const toLink =
  (name: string, target = 'notes.txt'): NonNullable<HostileRepository['files']> =>
  ({ treasure }) => ({ [name]: { link: `${treasure}${target === '' ? '' : `/${target}`}` } });

/** A file that a verb writes, as a link to a file of the user's. */
const written = (name: string, target?: string): HostileRepository => ({
  name: `${name} as a link to a file outside`,
  files: toLink(name, target),
  careless: () => `echo x >> ${name}`,
});

/** A folder in which a verb makes files, as a link to one of the user's. */
const folder = (name: string): HostileRepository => ({
  name: `${name} as a link to a folder outside`,
  files: toLink(name, ''),
  careless: () => `touch ${name}/new`,
});

/** Links that lead out of the repository, and git's own files and names in its tree. */
export const HOSTILE_LINKS: readonly HostileRepository[] = [
  written('AGENTS.md'),
  written('CLAUDE.md'),
  written('.gitignore'),
  written('.gitattributes'),
  written('.mcp.json', 'config.json'),
  written('.vscode/mcp.json', 'config.json'),
  written('.cursor/mcp.json', 'config.json'),
  written('.forge/tasks.jsonl'),
  written('.forge/history.jsonl'),
  written('.forge/config.json', 'config.json'),
  written('.forge/workflow.json', 'config.json'),
  written('.forge/.gitignore'),
  folder('.cursor'),
  folder('.vscode'),
  folder('.forge/skills'),
  {
    name: 'a task file that never ends',
    files: ({ treasure }) => ({
      '.forge/tasks.jsonl': { link: '/dev/zero' },
      'AGENTS.md': { link: `${treasure}/notes.txt` },
    }),
    careless: () => 'echo x >> AGENTS.md',
  },
  {
    name: 'a link for every control file at once',
    files: ({ treasure }) =>
      Object.fromEntries(
        ['AGENTS.md', 'CLAUDE.md', '.mcp.json', '.gitignore', '.forge/history.jsonl'].map((name) => [
          name,
          { link: `${treasure}/made-by-${name.replaceAll(/[./]/g, '')}` },
        ]),
      ),
    careless: () => 'echo x > AGENTS.md',
  },
  {
    name: 'a bare repository in the tree, with settings and hooks',
    files: ({ run }) => ({
      'inner/HEAD': 'ref: refs/heads/main\n',
      'inner/config': `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "${run('bare')}; false"\n`,
      'inner/objects/keep': '',
      'inner/refs/heads/keep': '',
      'inner/hooks/post-checkout': executable(run('bare-hook')),
    }),
    careless: () => 'git -C inner -c safe.bareRepository=all status',
  },
  {
    name: 'the files of a bare repository at the top of the tree',
    files: ({ run }) => ({
      HEAD: 'ref: refs/heads/main\n',
      config: `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "${run('top')}; false"\n`,
      'objects/keep': '',
      'refs/heads/keep': '',
    }),
    careless: () => 'git --git-dir=. status',
  },
  {
    name: 'attributes for filters and drivers, with settings that a clone could include',
    files: ({ run }) => ({
      '.gitattributes': '* filter=evil diff=evil merge=evil\n*.sh merge=forge\n',
      '.gitconfig': `[filter "evil"]\n\tclean = "${run('clean')}; cat"\n\tsmudge = "${run('smudge')}; cat"\n[core]\n\tfsmonitor = "${run('fsmonitor')}; false"\n`,
    }),
    careless: ({ path }) => `git -c include.path=${path}/.gitconfig status`,
  },
  {
    name: 'a submodule whose address is a program',
    files: ({ run }) => ({
      '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = "ext::sh -c ${run('ext').replaceAll(' ', '% ')}"\n\tupdate = "!${run('update')}"\n`,
    }),
    careless: () =>
      'git -c protocol.ext.allow=always ls-remote "$(git config -f .gitmodules submodule.x.url)"',
  },
  {
    name: 'names of files that are options, and that end lines',
    files: ({ run }) => ({
      [`--upload-pack=${run('pack').replaceAll('/', '_')}`]: 'x\n',
      '-c': 'x\n',
      'a\nb': 'x\n',
      'x\u001b]0;title\u0007': 'x\n',
      [`$(${run('name').replaceAll('/', '_')})`]: 'x\n',
      'evil.sh': executable(run('name')),
    }),
    careless: () => './evil.sh',
  },
  {
    name: 'a task file of a very long line and many lines',
    files: ({ run }) => ({
      '.forge/tasks.jsonl': `{"id":"fg-a3f8","title":"${'x'.repeat(3_000_000)}"}\n${Array.from(
        { length: 3_000 },
        (_, at) =>
          `${JSON.stringify({
            id: `fg-m${at}`,
            title: `$(${run('many')})`,
            status: 'open',
            type: 'task',
            priority: 4,
            created_at: '2026-01-01T00:00:00.000Z',
            created_by: 'mallory',
            updated_at: '2026-01-01T00:00:00.000Z',
            state: 'backlog',
          })}\n`,
      ).join('')}`,
    }),
    careless: ({ run }) => run('many'),
  },
];
