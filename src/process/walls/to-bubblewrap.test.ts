import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Walls } from '../walls.ts';
import { findInstalled } from './find-installed.ts';
import { findSockets } from './find-sockets.ts';
import { toBubblewrap, type Walled } from './to-bubblewrap.ts';

/** Outside of the temporary folders, where mounts are as in a home. */
function newFolder(root = process.cwd()): string {
  const folder = realpathSync(mkdtempSync(join(root, '.forge-walls-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function make(folder: string, ...names: string[]): string[] {
  return names.map((name) => {
    const path = join(folder, name);
    if (name.endsWith('.file')) writeFileSync(path, '');
    else mkdirSync(path, { recursive: true });
    return path;
  });
}

function toArgv(walls: Partial<Walls> & Pick<Walls, 'work'>, found: Partial<Walled> = {}): string {
  const none = { writable: [], replaced: [], own: [], fixed: [], hidden: [], sealed: [] };
  const whole = { ...none, let_in: [], readable: [], ...walls };
  const given = { installed: [], sockets: [], home: undefined, temporary: undefined, ...found };
  return toBubblewrap('/usr/bin/bwrap', { walls: whole, ...given }).join(' ');
}

describe.skipIf(process.platform !== 'linux')('toBubblewrap', () => {
  it('[S13] hides a file in a folder that is mounted as it is', () => {
    const folder = newFolder();
    const [work = '', cache = '', other = '', fixed = '', token = '', hidden = ''] = make(
      folder,
      'work',
      'home/cache',
      'other',
      'home/cache/models',
      'home/cache/models/token.file',
      'home/hidden.file',
    );
    const text = toArgv({
      work: { path: work, read_only: false },
      replaced: [{ path: cache, by: other }],
      fixed: [fixed],
      hidden: [token, hidden],
    });
    const last = text.lastIndexOf(`--ro-bind /dev/null ${token}`);
    expect(last).toBeGreaterThan(text.indexOf(`--ro-bind ${fixed} ${fixed}`));
    expect(text.split(`--ro-bind /dev/null ${hidden}`)).toHaveLength(2);
  });

  it('mounts what is weaker before what covers it', () => {
    const folder = newFolder();
    const [work = '', sealed = '', inSealed = '', cache = '', other = '', hidden = '', fixed = ''] = make(
      folder,
      'sealed/work',
      'sealed',
      'sealed/in',
      'home/cache',
      'other',
      'home/hidden.file',
      'home/cli',
    );
    const text = toArgv({
      work: { path: work, read_only: false },
      sealed: [sealed],
      let_in: [inSealed],
      replaced: [{ path: cache, by: other }],
      hidden: [hidden],
      writable: [join(folder, 'home')],
      fixed: [fixed],
    });
    const order = [
      '--ro-bind / /',
      '--tmpfs /tmp',
      `--ro-bind /dev/null ${hidden}`,
      `--bind ${folder}/home ${folder}/home`,
      `--bind ${other} ${cache}`,
      `--ro-bind ${fixed} ${fixed}`,
      `--tmpfs ${sealed}`,
      `--ro-bind ${inSealed} ${inSealed}`,
      `--bind ${work} ${work}`,
      `--remount-ro ${sealed}`,
      `--chdir ${work} --`,
    ];
    const places = order.map((part) => text.indexOf(part));
    expect(places.map((at, index) => (at < 0 ? order[index] : at))).toEqual(places.toSorted((a, b) => a - b));
    // As root every mount could be taken away again.
    expect(text).toContain('--cap-drop ALL');
  });

  it('parts a program from the others of the machine, and from what they left in temporary folders', () => {
    const text = toArgv({ work: { path: '/usr', read_only: true } });
    const ids = `--uid ${process.getuid?.()} --gid ${process.getgid?.()}`;
    expect(text).toContain(
      `bwrap --die-with-parent --unshare-user ${ids} --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL --ro-bind / / --dev /dev --proc /proc`,
    );
    // Of root's user it could be written to without any capability, and the kernel of the machine runs what stands there.
    for (const path of ['/proc/sys', '/proc/irq', '/proc/sysrq-trigger'].filter((one) => existsSync(one)))
      expect(text).toContain(`--ro-bind ${path} ${path} `);
    for (const path of ['/dev/shm', '/tmp', '/var/tmp', '/run', '/var/run'].filter((one) => existsSync(one)))
      expect(text).toContain(`--tmpfs ${realpathSync(path)} `);
    expect(text).toContain('--unsetenv XDG_RUNTIME_DIR ');
  });

  it('gives folders of its own within what can be changed, and settings in those stay', () => {
    const folder = newFolder();
    const [work = '', cache = '', other = '', own = '', fixed = ''] = make(
      folder,
      'work',
      'home/cache',
      'other',
      'home/cli/own',
      'home/cli/own/settings.file',
    );
    const [project = ''] = make(cache, 'project');
    const text = toArgv({
      work: { path: work, read_only: false },
      writable: [join(folder, 'home/cli')],
      replaced: [{ path: cache, by: other }],
      own: [own],
      fixed: [fixed],
      readable: [project],
    });
    const places = [
      ` --bind ${folder}/home/cli `,
      ` --bind ${other} ${cache} `,
      ` --tmpfs ${own} `,
      ` --ro-bind ${project} `,
      ` --ro-bind ${fixed} `,
    ].map((part) => text.lastIndexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  it('[S2-F4] opens what may be changed within what stays, and keeps what stays within that', () => {
    const folder = newFolder();
    const [cli = '', projects = '', own = '', inOwn = '', work = ''] = make(
      folder,
      'cli',
      'cli/projects',
      'cli/projects/own',
      'cli/projects/own/kept',
      'work',
    );
    const text = toArgv({
      work: { path: work, read_only: false },
      writable: [cli, own],
      fixed: [inOwn, projects],
    });
    const after = text.slice(text.indexOf(`--ro-bind ${projects} ${projects}`));
    expect(after).toMatch(
      `--ro-bind ${projects} ${projects} --bind ${own} ${own} --ro-bind ${inOwn} ${inOwn}`,
    );
  });

  it('follows links, leaves out what is missing, and never covers the root', () => {
    const folder = newFolder();
    const [real = ''] = make(folder, 'real');
    symlinkSync(real, join(folder, 'link'));
    const text = toArgv({
      work: { path: real, read_only: true },
      sealed: [join(folder, 'link'), '/'],
      hidden: [join(folder, 'missing')],
      replaced: [{ path: join(folder, 'missing'), by: real }],
    });
    expect(text).toContain(`--tmpfs ${real} `);
    expect(text).toContain(`--ro-bind ${real} ${real}`);
    expect(text).not.toContain('missing');
    expect(text).not.toMatch(/--tmpfs \/ /);
  });

  it('shows a home, a project and a program again that lie in a temporary folder', () => {
    const root = newFolder(tmpdir());
    const [home = '', work = '', , temporary = ''] = make(
      root,
      'home',
      'work',
      'modules/node_modules/.bin',
      'home/tmp',
    );
    const installed = findInstalled(['node', join(home, 'x')], {
      cwd: '/',
      path: join(root, 'modules/node_modules/.bin'),
    });
    const text = toArgv({ work: { path: work, read_only: false } }, { home, installed, temporary });
    expect(text).toContain(`--ro-bind ${home} ${home} --tmpfs ${temporary}`);
    expect(text).toContain(`--ro-bind ${root}/modules/node_modules ${root}/modules/node_modules`);
    // Outside of those everything can be read as it is.
    expect(toArgv({ work: { path: work, read_only: false } }, { home: homedir() })).not.toContain(
      `--ro-bind ${homedir()} `,
    );
  });

  it('keeps a project readable, and not more, in a folder that can be changed', () => {
    const folder = newFolder();
    const [work = '', project = ''] = make(folder, 'work', 'cache/project');
    const walls = { work: { path: work, read_only: false }, writable: [join(folder, 'cache')] };
    const text = toArgv({ ...walls, readable: [project] });
    const changeable = text.indexOf(` --bind ${folder}/cache`);
    expect(text.lastIndexOf(` --ro-bind ${project} `)).toBeGreaterThan(changeable);
    // A home that is a repository itself does not cover what can be changed in it.
    const home = toArgv({ ...walls, readable: [folder] });
    expect(home.lastIndexOf(` --ro-bind ${folder} `)).toBeLessThan(home.indexOf(` --bind ${folder}/cache`));
  });

  it('takes sockets away on which programs listen, but for those that nothing shows', async () => {
    const folder = newFolder(tmpdir());
    const path = join(folder, 'sock');
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    expect(findSockets()).toContain(path);
    const walls = { work: { path: '/usr', read_only: true } };
    expect(toArgv(walls, { sockets: [path], home: folder })).toContain(`--ro-bind /dev/null ${path}`);
    expect(toArgv(walls, { sockets: [path] })).not.toContain(path);
    // Beside a temporary folder is not in it.
    const beside = '/proc/sysvipc/msg';
    expect(toArgv(walls, { sockets: [beside], temporary: '/proc/sys' })).toContain(
      `--ro-bind /dev/null ${beside}`,
    );
  });

  it.each([
    ['a program by its name', ['tool'], ['at/bin', 'at']],
    ['a program by a link', ['BASE/link'], ['link', 'at/bin/tool', 'at']],
    ['one of a package', ['BASE/lib/node_modules/x/cli.js'], ['lib/node_modules']],
    ['files that it is told', ['tool', 'BASE/script', 'relative'], ['script']],
  ])('what a command needs to be read: %s', (_what, argv, wanted) => {
    const folder = newFolder(tmpdir());
    make(folder, 'at/bin', 'lib/node_modules/x');
    for (const name of ['at/bin/tool', 'lib/node_modules/x/cli.js'])
      writeFileSync(join(folder, name), '', { mode: 0o755 });
    symlinkSync('at/bin/tool', join(folder, 'link'));
    const path = join(folder, argv[0] === 'tool' ? 'at/bin' : 'none');
    const words = argv.map((word) => word.replace('BASE', folder));
    const found = findInstalled(words, { cwd: '/', path });
    expect(found).toEqual(expect.arrayContaining(wanted.map((name) => join(folder, name))));
    expect(found.every((one) => one.startsWith('/'))).toBe(true);
  });
});
