import * as z from 'zod';

export const Duration = z
  .string()
  .max(20)
  .regex(/^\d{1,6}(s|m|h|d)$/, 'a time is a number with s, m, h or d behind it, such as 2h');
