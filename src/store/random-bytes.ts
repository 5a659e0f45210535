import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Bytes that cannot be guessed, from the system's own source. Node's `crypto` draws from the same one, but loading it
 * takes a cold command some five milliseconds; it is asked where there is no such device.
 */
export function randomBytes(count: number, device = '/dev/urandom'): Uint8Array {
  return readDevice(device, count) ?? process.getBuiltinModule('node:crypto').randomBytes(count);
}

/** Undefined where there is none, and where a file of that name is something else. */
function readDevice(path: string, count: number): Uint8Array | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = new Uint8Array(count);
    const isDevice = fstatSync(file).isCharacterDevice();
    return isDevice && readSync(file, bytes) === count ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
