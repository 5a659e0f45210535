import type { trustProject as declaration, TrustedCommand } from '#contract/trust-operations.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import { ForgeError } from '#kernel/errors.ts';
import { nameFiles } from '#kernel/name-files.ts';
import { escapeLine } from '#kernel/text.ts';
import { allowSecret, listCommands, type RepositoryCommand, revokeTrust, trustListed } from '#sync/trust.ts';
import { implement, type OperationContext } from './operation.ts';
import { wrapWords } from './text-width.ts';

export const projectTrust = implement<typeof declaration>({
  async run(ctx, { list, revoke, yes, allow_secret }) {
    if ([list, revoke, yes, allow_secret].filter(Boolean).length > 1)
      throw new ForgeError('usage', '--list, --revoke, --yes and --allow-secret exclude each other', {
        hint: 'forge trust --help',
      });
    const { paths } = ctx.project;
    const place = { home: ctx.place.home, paths };
    const look = async (): Promise<RepositoryCommand[]> => listCommands(ctx.project, place.home, ctx.machine);
    const answer = { repository: paths.root, changed: [] };
    const commands = await look();
    if (list === true) return { ...answer, outcome: 'listed', commands: commands.map(toEntry) };
    const by = await findPerson(ctx);
    if (allow_secret !== undefined) {
      await allowSecret(place, allow_secret, { now: ctx.clock.now(), by });
      return { ...answer, outcome: 'trusted', commands: commands.map(toEntry), changed: [allow_secret] };
    }
    if (revoke === true) {
      const changed = await revokeTrust(place);
      const outcome = changed.length === 0 ? 'unchanged' : 'revoked';
      return { ...answer, outcome, commands: (await look()).map(toEntry), changed };
    }
    const asked = commands.filter(({ state }) => state === 'new' || state === 'changed');
    if (asked.length === 0) return { ...answer, outcome: 'unchanged', commands: commands.map(toEntry) };
    if (yes !== true && !(await isAllowed(ctx, asked)))
      return { ...answer, outcome: 'declined', commands: commands.map(toEntry) };
    await trustListed(place, asked, { now: ctx.clock.now(), by });
    const changed = asked.map(({ command }) => command);
    return { ...answer, outcome: 'trusted', commands: (await look()).map(toEntry), changed };
  },
  text({ outcome, commands, changed }, { columns }) {
    const count = `${changed.length} command${changed.length === 1 ? '' : 's'}`;
    switch (outcome) {
      case 'trusted':
        return [`Trusted ${count}:`, ...changed.map((command) => `  ${showCommand(command)}`)].join('\n');
      case 'revoked':
        return [`Trusted no more, ${count}:`, ...changed.map((command) => `  ${showCommand(command)}`)].join(
          '\n',
        );
      case 'declined':
        return 'Nothing was trusted';
      case 'unchanged':
        return commands.length === 0 ? NOTHING : 'Nothing to do: see forge trust --list';
      case 'listed':
        return commands.length === 0 ? NOTHING : commands.flatMap((one) => describe(one, columns)).join('\n');
    }
  },
});

const NOTHING = 'This repository brings no commands';

/** A person at their own command line allows something, never an agent; inside of a run this is not reached. */
async function findPerson(ctx: OperationContext): Promise<string> {
  const actor = await ctx.actor();
  if (ctx.vouches === true && actor.kind === 'user') return toTriggeredBy(actor);
  throw new ForgeError(
    'permission_denied',
    'What a repository may run is for a person to say, not for an agent',
    {
      hint: 'Run forge trust yourself, in a terminal of your own',
    },
  );
}

async function isAllowed({ host }: OperationContext, asked: readonly RepositoryCommand[]): Promise<boolean> {
  const many = asked.length === 1 ? 'this command' : `these ${asked.length} commands`;
  const answer = await host.confirm({
    lines: [...asked.map(toEntry).flatMap((one) => describe(one)), ''],
    question: `Allow ${many} to run on this machine? Type yes:`,
  });
  if (answer !== 'nobody') return answer === 'yes';
  throw new ForgeError('untrusted', `Nobody is at a terminal to look at ${many}`, {
    hint: 'forge trust --list, then forge trust --yes',
    details: { commands: asked.map(({ command }) => command) },
  });
}

function toEntry({ command, sources, scripts, state }: RepositoryCommand): TrustedCommand {
  return { command, sources: [...sources], scripts: [...scripts], state };
}

const STATES = {
  trusted: 'trusted',
  changed: 'a script that it runs has changed since it was trusted',
  new: 'not trusted',
  never: 'cannot be trusted: it is or has a link, or too many files; agents are told to leave it alone',
} as const;

function describe(
  { command, sources, scripts, state }: TrustedCommand,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const row = (name: string, value: string): string[] => {
    const [first = '', ...more] = wrapWords(value, { columns, indent: ' '.repeat(ROW_INDENT) });
    return [`  ${name.padEnd(ROW_INDENT - 2)}${first.slice(ROW_INDENT)}`, ...more];
  };
  return [
    showCommand(command),
    ...row('from', sources.map(escapeLine).join('; ')),
    ...(scripts.length === 0 ? [] : row('runs', nameFiles(scripts, scripts.length))),
    ...row('state', STATES[state]),
  ];
}

const ROW_INDENT = 9;

/** All of it: what blanks push out of sight is told by their number. */
function showCommand(command: string): string {
  return escapeLine(command).replaceAll(/[^\S\n]+/g, (blanks) =>
    blanks.length < 4 ? blanks : ` [${blanks.length} blanks] `,
  );
}
