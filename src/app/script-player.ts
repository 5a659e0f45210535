import { playScript } from '#executors/play-script.ts';

// A program of its own: an agent must not run inside of Forge, not even a scripted one. It says itself how it ended.
playScript().catch(() => {
  process.exitCode = 1;
});
