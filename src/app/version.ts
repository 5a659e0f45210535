/** The package's version; a test keeps the two equal. Written out, because a cold `--version` must not read a file. */
export const VERSION = '0.1.0';

/** Plays a recorded trajectory: what the script executor starts. No command, because nobody types it. */
export const PLAY = '--play-script';
