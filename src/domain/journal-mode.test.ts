import { expect, it } from 'vitest';
import { chooseJournalMode } from './journal-mode.ts';

it.each([
  ['9p: WSL, gVisor, QEMU', 0x01021997, '9p'],
  ['NFS', 0x6969, 'NFS'],
  ['SMB', 0x517b, 'SMB'],
  ['CIFS', 0xff534d42, 'CIFS'],
  ['CIFS as a signed number', 0xff534d42 | 0, 'CIFS'],
  ['SMB 2', 0xfe534d42, 'SMB 2'],
  ['SMB 2 as a signed number', 0xfe534d42 | 0, 'SMB 2'],
  ['FUSE and virtiofs', 0x65735546, 'FUSE or virtiofs'],
  ['VirtualBox', 0x786f4256, 'a shared folder of VirtualBox'],
  ['VMware', 0xbacbacbc, 'a shared folder of VMware'],
  ['Ceph', 0x00c36400, 'Ceph'],
  ['Lustre', 0x0bd00bd0, 'Lustre'],
])('%s gets a rollback journal', (_name, type, on) => {
  expect(chooseJournalMode(type, 'linux')).toEqual({ mode: 'delete', on });
});

it.each([
  ['ext4', 0xef53],
  ['btrfs', 0x9123683e],
  ['xfs', 0x58465342],
  ['zfs', 0x2fc12fc1],
  ['tmpfs', 0x01021994],
  ['overlay', 0x794c7630],
  ['ecryptfs', 0xf15f],
  ['f2fs', 0xf2f52010],
  ['bcachefs', 0xca451a4e],
  ['unknown', 0x12345678],
  ['not told', undefined],
])('%s gets a log', (_name, type) => {
  expect(chooseJournalMode(type, 'linux')).toEqual({ mode: 'wal' });
});

it.each(['darwin', 'win32', 'freebsd'])('the numbers of %s are others', (platform) => {
  expect(chooseJournalMode(0x65735546, platform)).toEqual({ mode: 'wal' });
});
