/**
 * File systems, by the number that Linux's `statfs` gives them, on which SQLite's log (WAL) is not safe: its shared
 * memory is not shared between the machines, or between a machine and its guests, that have the file open.
 */
const UNSAFE: ReadonlyMap<number, string> = new Map([
  [0x01021997, '9p'],
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB 2'],
  // virtiofs has the same number, and so have folders that Docker Desktop, OrbStack and sshfs mount.
  [0x65735546, 'FUSE or virtiofs'],
  [0x786f4256, 'a shared folder of VirtualBox'],
  [0xbacbacbc, 'a shared folder of VMware'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
]);

export type JournalChoice =
  | { readonly mode: 'wal' }
  /** `on` is the name of the file system. */
  | { readonly mode: 'delete'; readonly on: string };

/**
 * How a new database is journalled. Numbers of other systems mean something else, and one that is not known is taken for
 * a disk of this machine; undefined where the system does not say.
 */
export function chooseJournalMode(type: number | undefined, platform: string): JournalChoice {
  // What is larger than 31 bits comes as a negative number from some kernels.
  const on = platform === 'linux' && type !== undefined ? UNSAFE.get(type >>> 0) : undefined;
  return on === undefined ? { mode: 'wal' } : { mode: 'delete', on };
}
