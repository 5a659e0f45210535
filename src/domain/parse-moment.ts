import { ForgeError } from '#kernel/errors.ts';

/** The days of the person who asks. */
export interface Days {
  /** The day that a moment lies in. */
  readonly toDay: (ms: number) => readonly [year: number, month: number, day: number];
  /** The moment of a time of day. Days and months beyond the last lead on to the next. */
  readonly toMoment: (year: number, month: number, day: number, time?: DayTime) => number;
}

type DayTime = readonly [hours: number, minutes: number, seconds: number];

const UNITS: Readonly<Record<string, number>> = {
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * `yesterday`, `today`, `now`, `12h`, `7d`, `2026-03-01`, `2026-03-01T08:30`, `2026-03-01T08:30:00Z`: a moment in
 * milliseconds since 1970. Days and times without a zone are those of the person. Throws invalid_input.
 */
export function parseMoment(
  text: string,
  { now, days }: { readonly now: number; readonly days: Days },
): number {
  const word = text.trim().toLowerCase();
  if (word === 'now') return now;
  const [year, month, day] = days.toDay(now);
  if (word === 'today') return days.toMoment(year, month, day);
  if (word === 'yesterday') return days.toMoment(year, month, day - 1);
  const [, count = '', unit = ''] = /^(\d{1,6})\s*(min|[mhdw])(?: ago)?$/.exec(word) ?? [];
  if (unit !== '') return now - Number(count) * (UNITS[unit] ?? 0);
  return parseIso(word, days) ?? refuse(text);
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[t ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(z|[+-]\d\d:?\d\d)?)?$/;

function parseIso(word: string, days: Days): number | undefined {
  const found = ISO.exec(word);
  if (found === null) return undefined;
  const [year = 0, month = 0, day = 0, ...time] = found.slice(1, 7).map((part) => Number(part ?? 0));
  const [hours = 0, minutes = 0, seconds = 0] = time;
  // The 31st of February is the third of March to every clock, and a mistake to every person.
  const isDay = new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day && month >= 1 && month <= 12;
  if (!isDay || hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const zone = found[7];
  if (zone === undefined) return days.toMoment(year, month, day, [hours, minutes, seconds]);
  return Date.UTC(year, month - 1, day, hours, minutes, seconds) - toOffset(zone);
}

function toOffset(zone: string): number {
  if (zone === 'z') return 0;
  const digits = zone.replace(/\D/g, '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

function refuse(text: string): never {
  throw new ForgeError('invalid_input', `${JSON.stringify(text)} is no time`, {
    hint: 'yesterday, today, 12h, 7d, 2026-03-01 or 2026-03-01T08:30',
    details: { text },
  });
}
