import { executable, type HostileRepository } from './hostile-repository.ts';

/** Verbs that fill a working tree, or make a commit of its files, have to run the user's filters on them. */
const OF_FILES = ['sync.commit', 'workspace.open', 'worktree', 'run.start', 'dispatch', 'workspace.clean'];
/** Commits that the user wants signed. */
const OF_SIGNED = ['sync.commit', 'run.start', 'attempt.pick', 'dispatch'];
/** The hook of a commit works on the user's own index, whose monitor git asks for that commit anyway. */
const OF_COMMITS = ['git.hook'];
/** A merge into the user's branch asks the hooks that may forbid it, as the user's own git would. */
const OF_MERGES = {
  'hook-commit-msg': ['dispatch'],
  'hook-update': ['dispatch'],
  'hook-reference-transaction': ['dispatch'],
};
const HOOKS = [
  'applypatch-msg',
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'post-checkout',
  'post-merge',
  'pre-push',
  'reference-transaction',
  'post-index-change',
  'pre-merge-commit',
  'post-rewrite',
  'pre-auto-gc',
  'update',
  'post-update',
];
const everyHook = (
  program: (name: string) => string,
  folder: string,
): ReturnType<NonNullable<HostileRepository['inside']>> =>
  Object.fromEntries(
    HOOKS.map((name) => [`${folder}/${name}`, executable(`${program(`hook-${name}`)} < /dev/null`)]),
  );

/** A section of git's settings with one key. */
const setting = (section: string, key: string, value: string): string =>
  `[${section}]\n\t${key} = ${JSON.stringify(value)}\n`;

/** What stands in a `.git` that somebody else has prepared: an archive, a shared folder, an agent that went before. */
export const HOSTILE_SETTINGS: readonly HostileRepository[] = [
  {
    name: 'hooks in .git/hooks',
    inside: ({ program }) => everyHook(program, 'hooks'),
    careless: () => 'git commit -q --allow-empty -m x',
    may: OF_MERGES,
  },
  {
    name: 'core.hooksPath to a folder of the tree',
    files: ({ program }) => everyHook(program, 'tools'),
    settings: () => setting('core', 'hooksPath', 'tools'),
    careless: () => 'git commit -q --allow-empty -m x',
    may: OF_MERGES,
  },
  {
    name: 'core.fsmonitor',
    settings: ({ program }) => setting('core', 'fsmonitor', program('fsmonitor')),
    careless: () => 'git status',
    may: { fsmonitor: OF_COMMITS },
  },
  {
    name: 'a filter that cleans, by .gitattributes',
    files: () => ({ '.gitattributes': '* filter=evil\n' }),
    settings: ({ program }) => setting('filter "evil"', 'clean', program('clean')),
    careless: () => 'touch README.md; git add -A .',
    may: { clean: OF_FILES },
  },
  {
    name: 'a filter that smudges, by info/attributes',
    inside: () => ({ 'info/attributes': '* filter=evil\n' }),
    settings: ({ program }) => setting('filter "evil"', 'smudge', program('smudge')),
    careless: () => 'rm README.md; git checkout README.md',
    may: { smudge: OF_FILES },
  },
  {
    name: 'a filter that is a process, by core.attributesFile',
    files: () => ({ 'more-attributes': '* filter=evil\n' }),
    settings: ({ program, path }) =>
      setting('core', 'attributesFile', `${path}/more-attributes`) +
      setting('filter "evil"', 'process', program('process')),
    careless: () => 'touch README.md; git add -A .',
    may: { process: OF_FILES },
  },
  {
    name: 'textconv',
    files: () => ({ '.gitattributes': '* diff=evil\n' }),
    settings: ({ program }) => setting('diff "evil"', 'textconv', program('textconv')),
    careless: () => 'git show --textconv HEAD',
  },
  {
    name: 'diff.external',
    settings: ({ program }) => setting('diff', 'external', program('external')),
    careless: () => 'echo x >> README.md; git diff',
  },
  {
    name: 'a command of a diff driver',
    files: () => ({ '.gitattributes': '* diff=evil\n' }),
    settings: ({ program }) => setting('diff "evil"', 'command', program('diff-command')),
    careless: () => 'echo x >> README.md; git diff',
  },
  {
    name: 'a merge driver for every file',
    inside: () => ({ 'info/attributes': '* merge=evil\n' }),
    settings: ({ program }) => setting('merge "evil"', 'driver', `${program('driver')} %A`),
    prepare: () => TWO_BRANCHES,
    careless: () => 'git merge -q other',
  },
  {
    name: 'the merge driver of Forge replaced',
    settings: ({ program }) => setting('merge "forge"', 'driver', `${program('driver')} %A`),
    files: () => ({ '.gitattributes': '* merge=forge\n' }),
    prepare: () => TWO_BRANCHES,
    careless: ({ program }) => `git -c merge.forge.driver='${program('driver')} %A' merge -q other`,
  },
  {
    name: 'core.sshCommand and a remote by ssh',
    settings: ({ program }) =>
      setting('core', 'sshCommand', program('ssh')) +
      setting('remote "origin"', 'url', 'git@evil.example:x.git'),
    careless: () => 'git fetch git@evil.example:x.git',
    may: { ssh: ['sync.run'] },
  },
  {
    name: 'core.gitProxy and a remote by git://',
    settings: ({ program }) =>
      setting('core', 'gitProxy', program('git-proxy')) +
      setting('remote "more"', 'url', 'git://192.0.2.1/x.git'),
    careless: () => 'git fetch more',
  },
  {
    name: 'core.pager and pagers of commands',
    settings: ({ program }) =>
      setting('core', 'pager', program('pager')) +
      setting('pager', 'log', program('pager')) +
      setting('pager', 'config', program('pager')),
    careless: () => 'script -qec "git log" /dev/null || git -p log',
  },
  {
    name: 'core.editor and sequence.editor',
    settings: ({ program }) =>
      setting('core', 'editor', program('editor')) + setting('sequence', 'editor', program('editor')),
    careless: () => 'git commit --allow-empty',
  },
  {
    name: 'core.askPass and a helper for credentials',
    settings: ({ program }) =>
      setting('core', 'askPass', program('askpass')) +
      setting('credential', 'helper', `!${program('credential')}`),
    careless: () => 'echo url=https://evil.example | git credential fill',
  },
  {
    name: 'url.insteadOf that makes a program of every address',
    settings: ({ program, path }) =>
      setting(`url "ext::${program('ext')} "`, 'insteadOf', path.slice(0, 5)) +
      setting('protocol "ext"', 'allow', 'always'),
    careless: () => 'git ls-remote origin',
    may: { ext: ['sync.run'] },
  },
  {
    name: 'a remote whose address is a program',
    settings: ({ program }) =>
      setting('remote "evil"', 'url', `ext::${program('ext')}`) +
      setting('protocol "ext"', 'allow', 'always'),
    careless: () => 'git fetch evil',
  },
  {
    name: 'remote.origin.uploadpack and receivepack',
    settings: ({ program }) =>
      setting('remote "origin"', 'uploadpack', program('uploadpack')) +
      setting('remote "origin"', 'receivepack', program('receivepack')),
    careless: () => 'git fetch origin',
    may: { uploadpack: ['sync.run'], receivepack: ['sync.run'] },
  },
  {
    name: 'uploadpack.packObjectsHook',
    settings: ({ program }) => setting('uploadpack', 'packObjectsHook', program('pack-objects')),
    careless: ({ program }) =>
      `git -c uploadpack.packObjectsHook=${program('pack-objects')} clone -q --no-local . ../again; ${program('pack-objects')}`,
  },
  {
    name: 'aliases of git commands',
    settings: ({ program }) =>
      ['status', 'log', 'commit', 'st', 'rev-parse']
        .map((name) => setting('alias', name, `!${program('alias')}`))
        .join(''),
    careless: () => 'git st',
  },
  {
    name: 'an update command of a submodule',
    settings: ({ program, path }) =>
      `[submodule "x"]\n\tactive = true\n\turl = ${path}\n\tupdate = "!${program('update')}"\n`,
    files: () => ({ '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ./x\n' }),
    careless: () => `sh -c "$(git config submodule.x.update | cut -c2-)"`,
  },
  {
    name: 'include.path to a file of the tree',
    files: ({ program }) => ({
      'team.gitconfig':
        setting('core', 'fsmonitor', program('included')) + setting('diff', 'external', program('included')),
    }),
    settings: ({ path }) => setting('include', 'path', `${path}/team.gitconfig`),
    careless: () => 'git status',
    may: { included: OF_COMMITS },
  },
  {
    name: 'includeIf by folder and by branch',
    files: ({ program }) => ({
      'team.gitconfig':
        setting('core', 'fsmonitor', program('included')) + setting('core', 'pager', program('included')),
    }),
    settings: ({ path }) =>
      setting('includeIf "gitdir:/"', 'path', `${path}/team.gitconfig`) +
      setting('includeIf "onbranch:**"', 'path', `${path}/team.gitconfig`),
    careless: () => 'git status',
    may: { included: OF_COMMITS },
  },
  {
    name: 'settings of a worktree',
    settings: () => setting('extensions', 'worktreeConfig', 'true'),
    inside: ({ program }) => ({
      'config.worktree':
        setting('core', 'fsmonitor', program('worktree')) + setting('core', 'hooksPath', 'tools'),
    }),
    files: ({ program }) => everyHook(program, 'tools'),
    careless: () => 'git status',
    may: { worktree: OF_COMMITS, ...OF_MERGES },
  },
  {
    name: 'a work tree elsewhere',
    settings: ({ path, program }) =>
      setting('core', 'worktree', `${path}/../elsewhere`) +
      setting('core', 'fsmonitor', program('fsmonitor')),
    // Where git itself says that the work tree is, files are the project's.
    prepare: () => 'mkdir ../elsewhere',
    careless: () => 'git status; git checkout -q -f HEAD',
    may: { fsmonitor: OF_COMMITS },
  },
  {
    name: 'a program that signs, with commit.gpgSign',
    settings: ({ program }) =>
      setting('commit', 'gpgSign', 'true') +
      setting('tag', 'gpgSign', 'true') +
      setting('gpg', 'program', program('gpg')),
    careless: () => 'git commit -q --allow-empty -m x',
    may: { gpg: OF_SIGNED },
  },
  {
    name: 'a program that signs by ssh, with a command for its key',
    settings: ({ program }) =>
      setting('commit', 'gpgSign', 'true') +
      setting('gpg', 'format', 'ssh') +
      setting('gpg "ssh"', 'program', program('ssh-keygen')) +
      setting('gpg "ssh"', 'defaultKeyCommand', program('key-command')),
    careless: () => 'git commit -q --allow-empty -m x',
    may: {
      'ssh-keygen': OF_SIGNED,
      'key-command': OF_SIGNED,
    },
  },
  {
    name: 'log.showSignature with a program that checks',
    settings: ({ program }) =>
      setting('log', 'showSignature', 'true') + setting('gpg', 'program', program('verify')),
    prepare: () =>
      `git commit-tree -m x -p HEAD 'HEAD^{tree}' > .git/plain; git cat-file commit "$(cat .git/plain)" | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----' | git hash-object -t commit -w --stdin > .git/signed; git update-ref refs/heads/main "$(cat .git/signed)"; git reset -q --hard`,
    careless: () => 'git log -1',
  },
  {
    name: 'commands of trailers',
    settings: ({ run }) =>
      setting('trailer "evil"', 'key', 'Evil') +
      setting('trailer "evil"', 'command', run('trailer')) +
      setting('trailer "evil"', 'cmd', run('trailer-cmd')) +
      setting('trailer "evil"', 'ifmissing', 'add'),
    careless: () => 'echo x | git interpret-trailers',
  },
  {
    name: 'core.alternateRefsCommand with alternates',
    settings: ({ program }) => setting('core', 'alternateRefsCommand', program('alternate')),
    inside: ({ path }) => ({ 'objects/info/alternates': `${path}/../project/.git/objects\n` }),
    careless: () =>
      'git fetch -q ../project; git commit-tree -m x "HEAD^{tree}" > .git/x; git fetch -q --refetch ../project 2>/dev/null; git rev-list --all --alternate-refs',
    may: { alternate: ['sync.run'] },
  },
  {
    name: 'a promised object that only a program can bring',
    settings: ({ program }) =>
      '[extensions]\n\tpartialClone = evil\n' +
      `[remote "evil"]\n\turl = "ext::${program('promisor')}"\n\tpromisor = true\n` +
      setting('protocol "ext"', 'allow', 'always'),
    prepare: () => 'touch .git/objects/pack/x.promisor',
    careless: () => 'git cat-file -p 1234567890123456789012345678901234567890',
  },
  {
    name: 'tools for differences, merges and pages',
    settings: ({ program }) =>
      setting('diff', 'tool', 'evil') +
      setting('difftool "evil"', 'cmd', program('difftool')) +
      setting('difftool', 'prompt', 'false') +
      setting('merge', 'tool', 'evil') +
      setting('mergetool "evil"', 'cmd', program('mergetool')) +
      setting('browser "evil"', 'cmd', program('browser')) +
      setting('interactive', 'diffFilter', program('diff-filter')),
    careless: () => 'echo x >> README.md; git difftool --no-prompt',
  },
  {
    name: 'init.templateDir with hooks',
    files: ({ program }) => everyHook(program, 'template/hooks'),
    settings: ({ path }) => setting('init', 'templateDir', `${path}/template`),
    careless: ({ path }) =>
      `git init -q --template=${path}/template ../made && git -C ../made -c user.name=x -c user.email=x commit -q --allow-empty -m x`,
  },
  {
    name: 'an address and a proxy by http',
    settings: () =>
      setting('remote "more"', 'url', 'http://192.0.2.1:9/x.git') +
      setting('http', 'proxy', 'http://192.0.2.1:9') +
      setting('fetch', 'bundleURI', 'http://192.0.2.1:9/bundle'),
    sends: true,
    careless: () => 'git ls-remote http://192.0.2.1:9/x.git',
  },
  {
    name: 'a name and an address of the user that are commands',
    settings: ({ run }) =>
      setting('user', 'name', `$(${run('user')})`) +
      setting('user', 'email', `\`${run('email')}\`@example.com`),
    careless: () => 'eval "echo $(git config user.email)"',
  },
  {
    name: 'templates and files of settings that lie outside',
    settings: ({ treasure, program }) =>
      setting('commit', 'template', `${treasure}/notes.txt`) +
      setting('mailmap', 'file', `${treasure}/notes.txt`) +
      setting('core', 'excludesFile', `${treasure}/notes.txt`) +
      setting('tar "evil"', 'command', program('tar')),
    careless: () => 'git archive --format=evil HEAD',
  },
  {
    name: 'a file .git that leads to a repository with settings',
    prepare: ({ program }) =>
      `mv .git ../moved && echo "gitdir: $(cd .. && pwd)/moved" > .git && git config core.fsmonitor ${program('moved')} && mkdir -p ../moved/hooks && printf '#!/bin/sh\\n%s\\n' ${program('moved-hook')} > ../moved/hooks/post-checkout && chmod +x ../moved/hooks/post-checkout`,
    careless: () => 'git status',
    may: { moved: OF_COMMITS },
  },
  {
    name: 'a linked worktree of a repository with settings',
    prepare: ({ program }) =>
      `git config core.fsmonitor ${program('linked')}; git worktree add -q ../side HEAD; cp -r .forge ../side/ 2>/dev/null; true`,
    careless: () => 'git -C ../side status',
    may: { linked: OF_COMMITS },
  },
];

/** Branches whose merge has to join a file. */
const TWO_BRANCHES =
  'git switch -q -c other && echo other > README.md && git commit -q -am other && git switch -q - && echo main > README.md && git commit -q -am main';
