import type { listSettings as declaration } from '#contract/home-operations.ts';
import { listOwnSettings } from '#sync/list-own-settings.ts';
import { implement } from './operation.ts';
import { tableText } from './table-text.ts';

export const settingsList = implement<typeof declaration>({
  run: async ({ place }, { key, all }) => listOwnSettings(place.home, { key, all: all === true }),
  text(settings, view) {
    if (settings.length === 0) return 'You have set nothing. What can be set: forge settings list --all';
    const columns = [
      { header: 'SETTING', value: ({ key }: Setting) => key },
      {
        header: 'VALUE',
        value: ({ value }: Setting) => (value === null ? 'not set' : JSON.stringify(value)),
        flexible: true as const,
      },
    ];
    return tableText<Setting>(view, columns, settings);
  },
});

interface Setting {
  readonly key: string;
  readonly value?: unknown;
}
