import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import type { Walls } from '../walls.ts';

/** What every program may write to, and what others left there it does not see: sockets among it. */
const TEMPORARY = ['/dev/shm', '/tmp', '/var/tmp', '/run', '/var/run'];

/** Of /run: names of other machines cannot be found out without them, and on some systems all programs lie there. */
const NEEDED_OF_RUN = [
  '/run/systemd/resolve',
  '/run/NetworkManager/resolv.conf',
  '/run/resolvconf',
  '/run/nscd',
  '/run/current-system',
  '/run/wrappers',
];

export interface Walled {
  readonly walls: Walls;
  /** Folders that its program and its arguments need. */
  readonly installed: readonly string[];
  /** On which other programs listen. */
  readonly sockets: readonly string[];
  /** Of the program's environment. */
  readonly home: string | undefined;
  readonly temporary: string | undefined;
}

/**
 * The arguments of bubblewrap, up to the command. Later mounts cover earlier ones. As root it would leave all
 * capabilities, with which every mount can be taken away again, so they are dropped.
 */
export function toBubblewrap(
  bwrap: string,
  { walls, installed, sockets, home, temporary }: Walled,
): string[] {
  const { work, sealed } = walls;
  const own = distinct([...TEMPORARY, ...(temporary === undefined ? [] : [temporary])]);
  const isCovered = (path: string): boolean => own.some((folder) => isBelow(path, folder));
  const masks = distinct(sealed);
  // A socket that is gone when it is to be covered makes the start fail, so what is not seen is left alone.
  const unseen = distinct([
    ...walls.hidden,
    ...walls.own,
    ...walls.replaced.map(({ path }) => path),
    ...sealed,
  ]);
  const changeable = distinct([...walls.writable, ...walls.replaced.map(({ path }) => path)]);
  const readable = distinct([
    ...NEEDED_OF_RUN,
    ...installed,
    ...(home === undefined ? [] : [home]),
    ...walls.readable,
  ]).filter(isCovered);
  return [
    bwrap,
    ...toNamespaces(),
    ...ROOT,
    ...listSystemFiles().flatMap(readOnly),
    // A temporary folder may lie in a home that lies in a temporary folder.
    ...distinct([...own, ...readable]).flatMap((path) =>
      own.includes(path) ? ['--tmpfs', path] : readOnly(path),
    ),
    ...distinct(walls.hidden).flatMap(toMask),
    ...distinct(walls.writable).flatMap((path) => ['--bind', path, path]),
    ...walls.replaced.flatMap(({ path, by }) => toReplaced(path, by)),
    ...distinct(walls.own).flatMap((path) => ['--tmpfs', path]),
    ...distinct(walls.readable)
      .filter((path) => changeable.some((folder) => isBelow(path, folder)))
      .flatMap(readOnly),
    ...toFixed(walls),
    ...listHiddenInFixed(walls).flatMap(toMask),
    ...distinct(sockets)
      .filter((path) => !isCovered(path) || readable.some((folder) => isBelow(path, folder)))
      .filter((path) => !unseen.some((folder) => isBelow(path, folder)))
      .flatMap(toMask),
    ...masks.flatMap(toMask),
    ...distinct(walls.let_in).flatMap(readOnly),
    ...distinct([work.path]).flatMap((path) => [work.read_only ? '--ro-bind' : '--bind', path, path]),
    ...masks.filter(isFolder).flatMap((path) => ['--remount-ro', path]),
    '--unsetenv',
    'XDG_RUNTIME_DIR',
    '--chdir',
    toReal(work.path) ?? work.path,
    '--',
  ];
}

/** The same user and group as outside: git minds whose files it works on. The network is the machine's. */
function toNamespaces(): string[] {
  const ids = ['--uid', String(process.getuid?.() ?? 0), '--gid', String(process.getgid?.() ?? 0)];
  return ['--die-with-parent', '--unshare-user', ...ids, ...UNSHARED, '--cap-drop', 'ALL'];
}

const UNSHARED = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
const ROOT = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];

/**
 * Everything in /proc that is no process: of root's user it could be written to without any capability, and by some of
 * it (`sys/kernel/core_pattern`, `sysrq-trigger`) the whole machine is reached.
 */
function listSystemFiles(): string[] {
  return readdirSync('/proc')
    .filter((name) => !/^\d+$/.test(name))
    .map((name) => `/proc/${name}`)
    .filter((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found !== undefined && (found.isDirectory() || (found.isFile() && (found.mode & 0o222) !== 0));
    });
}

/** What may be changed within what stays as it is comes after it, and what stays within that after this. */
function toFixed({ fixed, writable }: Walls): string[] {
  const stays = new Set(distinct(fixed));
  const open = distinct(writable).filter((path) => [...stays].some((folder) => isBelow(path, folder)));
  return distinct([...stays, ...open]).flatMap((path) =>
    stays.has(path) ? readOnly(path) : ['--bind', path, path],
  );
}

/** A folder that is mounted as it is (a cache of models) brings back what was hidden in it (the token beside them). */
function listHiddenInFixed({ fixed, hidden, writable }: Walls): string[] {
  const [stays, open] = [distinct(fixed), distinct(writable)];
  return distinct(hidden).filter(
    (path) =>
      stays.some((folder) => isBelow(path, folder)) &&
      !open.some((one) => one === path || isBelow(one, path)),
  );
}

function readOnly(path: string): string[] {
  return ['--ro-bind', path, path];
}

function toReplaced(path: string, by: string): string[] {
  const [place, other] = [toReal(path), toReal(by)];
  return place === undefined || other === undefined ? [] : ['--bind', other, place];
}

function toMask(path: string): string[] {
  return isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

/** As they are mounted: links followed, each once, a folder before what lies in it. */
function distinct(paths: readonly string[]): string[] {
  const real = paths.map(toReal).filter((path) => path !== undefined && path !== '/');
  return [...new Set(real as string[])].sort((a, b) => (a < b ? -1 : 1)); // the filter takes undefined out
}

function toReal(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder + sep);
}
