import type { Days } from '#domain/parse-moment.ts';

/** The days of this machine, by its time zone. */
export const LOCAL_DAYS: Days = {
  toDay(ms) {
    const date = new Date(ms);
    return [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  },
  toMoment: (year, month, day, [hours, minutes, seconds] = [0, 0, 0]) =>
    new Date(year, month - 1, day, hours, minutes, seconds).getTime(),
};
