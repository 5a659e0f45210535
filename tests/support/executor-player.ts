import { playScript } from '#executors/play-script.ts';

/** The program that the script executor starts, without the rest of Forge around it. */
await playScript();
