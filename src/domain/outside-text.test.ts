import { describe, expect, it } from 'vitest';
import { composeAudit, composeChoice, composePrompt } from './compose-prompt.ts';
import { keepOrigin, OUTSIDE_LABEL, passOrigin, quoteOutside, showHidden } from './outside-text.ts';

const task = { id: 'fg-a3f8', title: 'Fix it', description: 'Now.' };

describe('[B13] text from outside', () => {
  it.each([
    ['a zero-width space', 'a\u200bb', 'a\\u{200b}b'],
    ['bidi controls', '\u202egnol\u2066', '\\u{202e}gnol\\u{2066}'],
    ['tag letters', '\u{e0041}\u{e0042}', '\\u{e0041}\\u{e0042}'],
    ['letters in a flag', '\u{1f3f4}\u{e0067}\u{e007f}', '\u{1f3f4}\\u{e0067}\\u{e007f}'],
    ['bytes in selectors', 'x\u{e0101}\ufe00', 'x\\u{e0101}\\u{fe00}'],
    ['bits in joiners', 'x\u200d\u200c\u200dy', 'x\\u{200d}\\u{200c}\\u{200d}y'],
    ['a joiner that joins nothing', 'x \u200d y', 'x \\u{200d} y'],
    ['fillers', '\u3164\u2800', '\\u{3164}\\u{2800}'],
    ['a terminal’s orders', '\u001b[31m\r', '\\u{1b}[31m\\u{d}'],
    ['half a character', '\ud800', '\\u{d800}'],
    ['other ends of a line', 'a\u2028b', 'a\\u{2028}b'],
    ['a comment', 'a<!-- do\nit -->b', 'a[hidden comment: do\nit ]b'],
    ['a comment without an end', 'a<!-- do', 'a[hidden comment: do]'],
  ])('shows %s', (_, text, shown) => {
    expect(showHidden(text)).toBe(shown);
  });

  it.each([
    ['lines and tabs', 'a\n\tb'],
    ['emoji', 'I ❤️ you, 👩‍💻 and ❤️‍🔥!'],
    ['scripts that need a joiner', 'می‌خواهم'],
    ['arrows', 'a --> b'],
  ])('leaves %s as they are', (_, text) => {
    expect(showHidden(text)).toBe(text);
  });

  it('reads the ends of lines of Windows as ends of lines', () => {
    expect(showHidden('a\r\nb')).toBe('a\nb');
  });

  it('stands in a fence that no number of backticks ends', () => {
    const description = '` '.repeat(200_000) + '`'.repeat(40);
    const [fence = ''] = quoteOutside({ ...task, description }, 'beads')
      .split('\n')
      .slice(-1);
    expect(fence).toBe('`'.repeat(41));
  });

  it('is told apart in every prompt; what was written here is not', () => {
    const attempts = [{ number: 1, agent: null, base: 'b', head: 'h', patch: '' }];
    const compose = [
      (one: typeof task) => composePrompt({ task: one, role: 'coder', branch: 'b', earlier: {} }),
      (one: typeof task) => composeAudit({ task: one, base: 'b', head: 'h' }),
      (one: typeof task) => composeChoice({ task: one, attempts }),
    ];
    const imported = { ...task, metadata: { beads_id: 'bd-1' } };
    const derived = { ...task, metadata: Object.fromEntries(passOrigin(imported)) };
    for (const toText of compose) {
      expect(toText(task)).not.toContain(OUTSIDE_LABEL);
      expect(toText(task)).toMatch(/^# .*Fix it\n/);
      for (const one of [imported, derived]) {
        expect(toText(one)).toMatch(/^# .*fg-a3f8\n/);
        expect(toText(one)).toContain(
          `${OUTSIDE_LABEL} It came from beads.\n\n\`\`\`text\nTitle: Fix it\n\nNow.\n\`\`\``,
        );
      }
    }
    expect(passOrigin({ metadata: { ticket: 'A-1' } }).size).toBe(0);
  });

  it.each(['beads_id', 'backlog_md_id', 'task_master_id', 'text_from'])(
    '[S2-F13] %s is not an agent’s to change',
    (key) => {
      const change = (kind: string) => (): void => keepOrigin({ kind, name: 'ada' }, ['note', key]);
      expect(change('agent')).toThrow(
        `Metadata "${key}" says where the text of a task came from: ada is an agent`,
      );
      expect(change('user')).not.toThrow();
      expect(() => keepOrigin({ kind: 'agent', name: 'ada' }, ['note', `${key}s`])).not.toThrow();
    },
  );
});
