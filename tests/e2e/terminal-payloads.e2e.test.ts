import { describe, expect, it } from 'vitest';
import type { ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { bringTasks } from '../support/store-snapshot.ts';

const ESC = '\u001b';
const ST = `${ESC}\\`;
const BEL = '\u0007';

/** Sequences that terminals obey, by what they would do. */
const SEQUENCES: Readonly<Record<string, string>> = {
  'set the title': `${ESC}]0;owned${BEL}`,
  'set the icon': `${ESC}]1;owned${ST}`,
  'set the window title': `${ESC}]2;owned${ST}`,
  'report the title': `${ESC}[21t`,
  'report the icon': `${ESC}[20t`,
  'change a colour of the palette': `${ESC}]4;1;rgb:00/00/00${ST}`,
  'change the foreground': `${ESC}]10;#000000${BEL}`,
  'change the background': `${ESC}]11;#000000${BEL}`,
  'ask for the background': `${ESC}]11;?${BEL}`,
  'name the folder': `${ESC}]7;file://host/etc${ST}`,
  'a link': `${ESC}]8;;http://evil.example${ST}click${ESC}]8;;${ST}`,
  'a link with an id': `${ESC}]8;id=1;file:///etc/passwd${BEL}x${ESC}]8;;${BEL}`,
  'write the clipboard': `${ESC}]52;c;b3duZWQ=${BEL}`,
  'read the clipboard': `${ESC}]52;c;?${BEL}`,
  'a notification': `${ESC}]9;owned${BEL}`,
  'a progress bar': `${ESC}]9;4;1;50${BEL}`,
  'a notification of rxvt': `${ESC}]777;notify;a;b${BEL}`,
  'a notification of kitty': `${ESC}]99;i=1;owned${ST}`,
  'a mark of the prompt': `${ESC}]133;A${ST}`,
  'a mark of an editor': `${ESC}]633;E;rm -rf .${BEL}`,
  'a file of iTerm': `${ESC}]1337;File=inline=1:AAAA${BEL}`,
  'a mark of iTerm': `${ESC}]1337;SetMark${BEL}`,
  'a string that never ends': `${ESC}]0;owned`,
  'a device string': `${ESC}Pq#0;2;0;0;0${ST}`,
  'a picture of sixels': `${ESC}P0;1;0q"1;1;1;1#0~${ST}`,
  'ask for a setting': `${ESC}P$qm${ST}`,
  'ask for the terminfo': `${ESC}P+q544e${ST}`,
  'define a key': `${ESC}P0;1|17/0a${ST}`,
  'through tmux': `${ESC}Ptmux;${ESC}${ESC}]0;owned${BEL}${ST}`,
  'through screen': `${ESC}P${ESC}]0;owned${BEL}${ST}`,
  'graphics of kitty': `${ESC}_Gf=24,s=1,v=1;AAAA${ST}`,
  'a privacy message': `${ESC}^owned${ST}`,
  'a string of strings': `${ESC}Xowned${ST}`,
  'clear the screen': `${ESC}[2J`,
  'clear what scrolled away': `${ESC}[3J`,
  'clear the line': `${ESC}[2K`,
  'the cursor home': `${ESC}[H`,
  'the cursor up': `${ESC}[5A`,
  'the cursor to a column': `${ESC}[1G`,
  'save and restore the cursor': `${ESC}7${ESC}8`,
  'scroll a region': `${ESC}[1;3r`,
  'insert lines': `${ESC}[9L`,
  'delete lines': `${ESC}[9M`,
  'delete letters': `${ESC}[9P`,
  'repeat a letter': `x${ESC}[9999b`,
  'the other screen': `${ESC}[?1049h`,
  'hide the cursor': `${ESC}[?25l`,
  'report the mouse': `${ESC}[?1003h`,
  'report the focus': `${ESC}[?1004h`,
  'bracketed paste off': `${ESC}[?2004l`,
  'hold the output': `${ESC}[?2026h`,
  'keys of applications': `${ESC}[?1h${ESC}=`,
  'keys of kitty': `${ESC}[>1u`,
  'modified keys': `${ESC}[>4;2m`,
  'report the cursor': `${ESC}[6n`,
  'report the device': `${ESC}[c`,
  'report the version': `${ESC}[>q`,
  'size of the window': `${ESC}[8;1;1t`,
  'make it small': `${ESC}[2t`,
  'soft reset': `${ESC}[!p`,
  'full reset': `${ESC}c`,
  'letters as lines': `${ESC}(0`,
  'other letters': `${ESC}%@`,
  'letters shifted': '\u000eabc\u000f',
  'the second set': `${ESC}N\u0041`,
  'the third set': `${ESC}O\u0041`,
  'screen alignment': `${ESC}#8`,
  'double height': `${ESC}#3`,
  'mode of VT52': `${ESC}[?2l`,
  invisible: `${ESC}[8mhidden${ESC}[0m`,
  'colour on colour': `${ESC}[30;40mhidden`,
  '256 colours': `${ESC}[38;5;16m`,
  'true colour': `${ESC}[38;2;0;0;0m`,
  'a colour of ISO 8613': `${ESC}[38:2::0:0:0m`,
  'memory of lines': `${ESC}l`,
  'print the screen': `${ESC}[i`,
  'print what comes': `${ESC}[5i`,
  '8-bit CSI': '\u009b2J',
  '8-bit OSC': '\u009d0;owned\u009c',
  '8-bit DCS': '\u0090qowned\u009c',
  '8-bit APC': '\u009fGa\u009c',
  '8-bit PM': '\u009eowned\u009c',
  '8-bit SOS': '\u0098owned\u009c',
  '8-bit index': '\u0084',
  '8-bit next line': '\u0085',
  'reverse index': '\u008d',
  'a bell': BEL,
  'a backspace': 'rm\b\bls',
  'a vertical tab': '\u000b',
  'a form feed': '\u000c',
  'a carriage return': 'forge: bad\rforge: fine',
  'an end of transmission': '\u0004',
  'a cancel in a sequence': `${ESC}[3\u00181m`,
  'a substitute': `${ESC}[3\u001a1m`,
  'an enquiry': '\u0005',
  'stop and go on': '\u0013\u0011',
  'two escapes': `${ESC}${ESC}[2J`,
  'a colour in two': `${ESC}[\u0000[2J`,
  DEL: 'a\u007fb',
};

/** Single characters that a screen hides, or that turn the order of others round. */
const SIGNS = [
  0x00ad,
  0x034f,
  0x061c,
  0x180e,
  0x200b,
  0x2028,
  0x2029,
  0xfeff,
  ...range(0xfff9, 0xfffb),
  ...range(0x200e, 0x200f),
  ...range(0x202a, 0x202e),
  ...range(0x2060, 0x206f).filter((code) => code !== 0x2065),
  ...range(0xe0061, 0xe0066),
];

const PAYLOADS: readonly (readonly [string, string])[] = [
  ...Object.entries(SEQUENCES),
  ...SIGNS.map((code) => [`U+${code.toString(16)}`, `a${String.fromCodePoint(code)}b`] as const),
];

describe('what acts on a terminal', () => {
  it('is shown escaped by task show, list, search and ready, in title, description, label, owner, metadata and comment', async ({
    annotate,
  }) => {
    await using project = await forgeProjectHere();
    const ids = PAYLOADS.map((_, at) => `fg-${(46_656 + at).toString(36)}`);
    const at = '2026-02-10T09:00:00.000Z';
    bringTasks(
      project.path,
      ids.map((id) => ({
        id,
        assignee: 'x',
        comments: [{ id: `c-${id}`, author: 'x', body: 'x', reply_to: null, created_at: at }],
      })),
    );
    await project.run('task', 'list');
    writeRows(project, ids);
    const raw: string[] = [];
    let shown = 0;
    for (const [at, [name, text]] of PAYLOADS.entries()) {
      const page = await project.text('task', 'show', ids[at] ?? '');
      if (
        ['title ', 'description ', 'owner ', 'label ', 'key ', 'value ', 'author ', 'body '].every((one) =>
          page.includes(one),
        )
      )
        shown += 1;
      if (findRaw(page, text)) raw.push(`${name} in task show`);
    }
    for (const args of [['task', 'list', '--all'], ['search', '--query', 'title'], ['ready']]) {
      const { stdout, stderr, exit } = await project.run(...args);
      expect(exit).toBe(0);
      for (const [name, text] of PAYLOADS)
        if (findRaw(stdout + stderr, text)) raw.push(`${name} in ${args.join(' ')}`);
    }
    expect(raw).toEqual([]);
    expect(shown).toBe(PAYLOADS.length);
    await annotate(`${PAYLOADS.length} payloads`);
  });

  it('is noticed where it is raw', () => {
    const missed = PAYLOADS.filter(([, text]) => !findRaw(`title ${text}`, text));
    expect(missed).toEqual([]);
  });
});

/** What no command and no file would let in, so that only what is shown stands between it and the terminal. */
function writeRows(project: ForgeProject, ids: readonly string[]): void {
  using db = project.openDatabase();
  const task = db.prepare(
    'UPDATE tasks SET title = ?, description = ?, assignee = ?, labels = ?, metadata = ? WHERE id = ?',
  );
  const comment = db.prepare('UPDATE comments SET author = ?, body = ? WHERE task_id = ?');
  for (const [at, [, text]] of PAYLOADS.entries()) {
    const id = ids[at] ?? '';
    const labels = JSON.stringify([`label ${text}`]);
    const metadata = JSON.stringify({ [`key ${text}`]: `value ${text}` });
    task.run(`title ${text}`, `description ${text}`, `owner ${text}`, labels, metadata, id);
    comment.run(`author ${text}`, `body ${text}`, id);
  }
}

/** Whether a page holds a character of the payload that a screen does not simply show. */
function findRaw(page: string, payload: string): boolean {
  const acting = payload.match(/\u034f|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u180e]/gu) ?? [];
  return acting.some((sign) => sign !== '\n' && page.includes(sign));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
