/** The package's version; a test keeps the two equal. Written out, because a cold `--version` must not read a file. */
export const VERSION = '0.1.0';
