export interface SecretPattern {
  /** What it looks like, with its article. */
  readonly name: string;
  readonly form: RegExp;
  /** For what one pattern cannot say without taking the square of a text. */
  readonly accepts?: (value: string) => boolean;
}

/**
 * Forms that those who issue keys gave them so that they can be found, and values whose own name says what they are.
 * Nothing that merely looks random: a warning that is mostly wrong is not read. Each matches the whole of a key, and
 * every repetition is bounded or is of characters that end it, so that a long text takes as long as its length says.
 * What stands right before a key does not hide it; only short beginnings that are also ends of words must stand alone.
 */
export const SECRET_PATTERNS: readonly SecretPattern[] = [
  {
    name: 'a private key',
    form: /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\[rn]){1,4}(?:Version|Comment): [^\n\\]{0,80}(?=[\n\\])){0,2}(?:[A-Za-z0-9+/=:,\s\\]|-(?!-))*(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)?/g,
  },
  {
    name: 'a private key',
    form: /Private-Lines: \d{1,4}(?:(?:\s|\\[rn]){1,4}[A-Za-z0-9+/=]{1,200}(?![A-Za-z0-9+/=-])){1,400}(?:(?:\s|\\[rn]){1,4}Private-(?:MAC|Hash): [0-9a-f]{40,64})?/g,
  },
  {
    name: 'an AWS key',
    form: /(?<![0-9A-Za-z])A[KS]IA[0-9A-Z]{16}(?![0-9A-Z])|A[KS]IA(?=[A-Z]{0,15}[0-9])[0-9A-Z]{16}/g,
  },
  {
    name: 'an AWS secret key',
    form: /(?<=secret_?-?access_?-?key[\\"']{0,3}\s{0,4}[:=]\s{0,4}[\\"']{0,3})[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/])/gi,
    accepts: isMixed,
  },
  {
    name: 'a session token',
    form: /(?<=(?:session|security)_?-?token[\\"']{0,3}\s{0,4}[:=]\s{0,4}[\\"']{0,3})[A-Za-z0-9+/=_-]{40,}/gi,
    accepts: isMixed,
  },
  { name: 'a GitHub token', form: /gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}/g },
  { name: 'a GitLab token', form: /gl(?:pat|ptt|dt|rt|cbt|ft|oas|soat|agent|imt)-[A-Za-z0-9_-]{20,}/g },
  { name: 'a Slack token', form: /xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{20,}/g },
  {
    name: 'the address of a Slack hook',
    form: /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9/_-]{20,}/g,
    // The one of the documentation.
    accepts: (value) => !/\/X{24}$/.test(value),
  },
  {
    // A name of words with dashes is none: keys of providers have figures in them.
    name: 'a key of a model provider',
    form: /(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{32,}/g,
  },
  {
    // `task-` and `disk-` end with the same letters.
    name: 'a key of a model provider',
    form: /sk-(?:ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{20,}|(?:proj|svcacct|admin)-(?=[A-Za-z]{0,19}[0-9])[A-Za-z0-9]{20}[A-Za-z0-9_-]*|or-v1-[0-9a-f]{64}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20,})/g,
  },
  {
    name: 'a key of a model provider',
    form: /hf_[A-Za-z0-9]{34,}|gsk_[A-Za-z0-9]{52,}|xai-[A-Za-z0-9]{80,}|pplx-[A-Za-z0-9]{48,}|r8_[A-Za-z0-9]{37,}/g,
    accepts: isMixed,
  },
  {
    name: 'a key of a model provider',
    form: /(?<![A-Za-z0-9])fw_[A-Za-z0-9]{22,}/g,
    accepts: isMixed,
  },
  { name: 'a Google key', form: /AIza[A-Za-z0-9_-]{35,}/g },
  { name: 'a Google token', form: /ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28,}/g },
  { name: 'an npm token', form: /npm_[A-Za-z0-9]{36,}/g },
  { name: 'a Stripe key', form: /[rs]k_live_[A-Za-z0-9]{16,}/g },
  { name: 'a token of Forge', form: /fgt_[A-Za-z0-9_-]{43}/g },
  { name: 'a JSON web token', form: /eyJ[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*/g, accepts: isWebToken },
  {
    name: 'a value of Authorization',
    form: /(?<=\bbearer[ \t]{1,4}[\\"']{0,3})[A-Za-z0-9._~+/-]{20,}={0,2}/gi,
    accepts: isMixed,
  },
  {
    name: 'a value of Authorization',
    form: /(?<=authorization[\\"']{0,3}[ \t]{0,4}[:=][ \t]{0,4}[\\"']{0,3}(?:(?:basic|token|apikey|digest)[ \t]{1,4})?)[A-Za-z0-9._~+/-]{16,}={0,2}/gi,
    accepts: isMixed,
  },
  {
    name: 'a password in an address',
    form: /(?<=[A-Za-z]:\/\/[^\s:@/\\"'<>]{0,100}:)[^\s:@/\\"'<>]{4,200}(?=@)/g,
    accepts: (value) => !PLACEHOLDER.test(value),
  },
];

/** One of these stands in every text that one of the forms matches: nearly all texts are told by this one look. */
export const ANY_SECRET =
  /PRIVATE KEY(?: BLOCK)?-----|Private-Lines: |A[KS]IA|[Ss]ecret_?-?[Aa]ccess|SECRET_?-?ACCESS|(?:ssion|SSION|urity|URITY)_?-?(?:TOKEN|[Tt]oken)|gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|cbt|ft|oas|soat|agent|imt)-|xox[abeprs]-|xapp-|hooks\.slack|sk-|hf_|gsk_|xai-|pplx-|r8_|fw_|AIza|ya29\.|GOCSPX-|npm_|k_live_|fgt_|eyJ|[Bb]earer|BEARER|[Uu]thorization|AUTHORIZATION|:\/\/[^\s:@/\\"'<>]{0,100}:[^\s:@/\\"'<>]{4,200}@/;

/** What people write in examples. */
const PLACEHOLDER =
  /^(?:[$%{[(*].*|\.{3,}|x+|pass(?:word|wd|phrase)?|pw|pwd|passw0rd|secret|token|user(?:name)?|postgres|mysql|root|admin|guest|test|example|changeme|your[-_a-z]*|my[-_]?[a-z]*|[A-Z_]*(?:PASS(?:WORD)?|SECRET|TOKEN|KEY))$/i;

/** Words that are joined, and numbers of versions after them. */
const WORDS =
  /^(?:[A-Za-z]{1,20}[0-9]{0,2}|[0-9]{1,4})(?:[-._/~+]{1,2}(?:[A-Za-z]{1,20}[0-9]{0,2}|[0-9]{1,4}))*$/;

/** Figures among letters, and no name of words. */
function isMixed(value: string): boolean {
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value) && !WORDS.test(value);
}

/** Head and body are JSON objects, the third part is the signature. */
function isWebToken(value: string): boolean {
  const parts = value.split('.');
  return parts.some((part, at) => {
    const body = parts[at + 1] ?? '';
    const signature = parts[at + 2] ?? '';
    return part.length >= 13 && body.startsWith('eyJ') && body.length >= 13 && signature.length >= 16;
  });
}
