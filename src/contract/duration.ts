import * as z from 'zod';

const RULE = 'a time is a number with s, m, h or d behind it, such as 2h';

export const Duration = z
  .string()
  .max(20)
  .regex(/^\d{1,6}(s|m|h|d)$/, RULE);

/** The same, but not nothing: what is good for no time was not meant. */
export const Lifetime = z
  .string()
  .max(20)
  .regex(/^0{0,5}[1-9]\d{0,5}(s|m|h|d)$/, `${RULE}, and more than none`);
