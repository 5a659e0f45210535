import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { workOnFile } from '#executors/agent-files.ts';
import { openBelow } from '#executors/open-below.ts';
import { tempFolder } from './temp-repo.ts';

/** A folder that an agent changes, and one beside it that it must not reach; removed with the test. */
export async function newCheckout(): Promise<{ readonly checkout: string; readonly outside: string }> {
  const folder = await tempFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const [checkout, outside] = [join(folder.path, 'checkout'), join(folder.path, 'outside')];
  mkdirSync(checkout);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret');
  return { checkout, outside };
}

/** A file is read and written so many times while the folder that it lies in is swapped for a link to another one. */
export async function expectOwn(rounds: number): Promise<void> {
  const { checkout, outside } = await newCheckout();
  writeFileSync(join(outside, 'file'), 'secret');
  const swap = `mkdir -p real; echo own > real/file; ln -s '${outside}' link
      while :; do mv -T real at; mv -T at real; mv -T link at; mv -T at link; done`;
  const agent = spawn('bash', ['-c', swap], { cwd: checkout, stdio: 'ignore' });
  onTestFinished(() => void agent.kill('SIGKILL'));
  const seen = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const read = workOnFile(checkout, { id: '1', path: 'at/file', kind: 'read' });
    if (read.done) seen.add(read.text);
    workOnFile(checkout, { id: '2', path: 'at/file', kind: 'write', text: 'own\n' });
  }
  agent.kill('SIGKILL');
  expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('secret');
  seen.delete('');
  expect([...seen].filter((text) => text !== 'own\n')).toEqual([]);
  closeSync(openBelow(checkout, ['own'], 'write'));
}
