import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { runCli } from '#surfaces/cli/run-cli.ts';
import { createProcessIo } from '#surfaces/cli/process-io.ts';
const ctx = { clock: { now: () => Date.now() }, async [Symbol.asyncDispose]() {} } as never;
process.exitCode = await runCli(process.argv.slice(2), createProcessIo(), {
  table: FLAG_TABLE, version: '0.1.0',
  openContext: async (a) => { console.error('FILES', JSON.stringify(a.globals)); return ctx },
  loadOperation: async (name) => name === 'shell.completion' ? (await import('#operations/shell-completion.ts')).shellCompletion as never : ({ run: async (_c: unknown, input: unknown) => ({ id: name, title: input }), text: (o: unknown) => JSON.stringify(o), notices: () => ['a notice'] }) as never,
});
