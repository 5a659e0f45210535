import { it } from 'vitest';
import { expectKillsSurvived } from './behaviour/crash-behaviour.ts';

it.each([1, 2, 3, 4, 5])(
  '[S130] killed thirty times, keeps every acknowledged write and leaves old or new, never between (%i)',
  () => expectKillsSurvived(30),
);
