/**
 * How a person or an agent looks at what an attempt changed. Whether git shows a file at all, or what a program of the
 * user's makes of it, is said by `.gitattributes`, which are part of the work: with these options they say nothing.
 */
export const DIFF_COMMAND = 'git diff --text --no-ext-diff --no-textconv';
