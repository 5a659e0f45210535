/** The lock of a database that is set aside or made; loaded when there is need for it, which is hardly ever. */
export async function holdWhileMending<T>(path: string, work: () => T): Promise<T> {
  const { holdFileLock } = await import('#process/hold-file-lock.ts');
  return holdFileLock(path, { what: 'repair of the task database' }, work);
}
