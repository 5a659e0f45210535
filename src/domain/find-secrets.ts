/**
 * Forms that those who issue keys gave them so that they can be found. Nothing that merely looks random: a warning
 * that is mostly wrong is not read.
 */
const FORMS: readonly (readonly [string, RegExp])[] = [
  ['a private key', /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----/],
  ['an AWS key', /\bAKIA[0-9A-Z]{16}\b/],
  ['a GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})/],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{20}/],
  ['a Slack token', /\bxox[abprs]-[A-Za-z0-9-]{10}/],
  ['a key of a model provider', /\bsk-[A-Za-z0-9_-]{32}/],
  ['a Google key', /\bAIza[A-Za-z0-9_-]{35}/],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/],
];

/** What the text seems to hold that should be nowhere; empty for nearly all. */
export function findSecrets(text: string): string[] {
  return FORMS.flatMap(([name, form]) => (form.test(text) ? [name] : []));
}
