import { isPassword, takePassword } from './address-passwords.ts';
import { isExample } from './example-secrets.ts';
import {
  hasMixedValue,
  isCredentials,
  isMixed,
  isWebToken,
  takeAll,
  takeHeaderValue,
  takeParameters,
  takePrivateKey,
  takeRoutable,
  type KeyEnd,
} from './secret-shapes.ts';

export interface SecretPattern {
  /** What it looks like, with its article. */
  readonly name: string;
  /** The beginning of a key, long enough to tell it. Where a group is in it, only that is of the key. */
  readonly form: RegExp;
  /** For keys of any length, where they end. */
  readonly toEnd?: KeyEnd;
  /** For what one pattern cannot say without taking the square of a text. */
  readonly accepts?: (value: string) => boolean;
}

const takeLetters = takeAll(/[A-Za-z0-9]/);
const takeDashed = takeAll(/[A-Za-z0-9-]/);
const takeWord = takeAll(/[A-Za-z0-9_-]/);

/**
 * Forms that those who issue keys gave them so that they can be found, and values whose own name says what they are.
 * Nothing that merely looks random: a warning that is mostly wrong is not read. Every repetition is bounded, and what has
 * no bound is passed over by hand: a text of any length takes as long as its length says, and no stack. What stands right
 * before a key does not hide it; only short beginnings that are also ends of words must stand alone.
 */
export const SECRET_PATTERNS: readonly SecretPattern[] = [
  {
    name: 'a private key',
    form: /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\[rn]){1,4}(?:Version|Comment): [^\n\\]{0,80}(?=[\n\\])){0,2}/g,
    toEnd: takePrivateKey,
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
    form: /secret[_ -]?(?:access[_ -]?)?key(?:[ \t]{1,2}\[[^\]\n]{0,24}\])?[\\"'\s|:=>,[]{1,24}(?:(?:\\n[\\"' ]{0,24})?value[\\"'\s|:=>,[]{1,24})?([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])/gi,
    accepts: isMixed,
  },
  {
    name: 'a session token',
    form: /(?:session|security)[_ -]?token[\\"'\s|:=>,[]{1,24}(?:(?:\\n[\\"' ]{0,24})?value[\\"'\s|:=>,[]{1,24})?([A-Za-z0-9+/=_-]{40})/gi,
    toEnd: takeAll(/[A-Za-z0-9+/=_-]/),
    accepts: isMixed,
  },
  { name: 'a GitHub token', form: /gh[pousr]_[A-Za-z0-9]{36}/g, toEnd: takeLetters },
  { name: 'a GitHub token', form: /github_pat_[A-Za-z0-9_]{22}/g, toEnd: takeAll(/[A-Za-z0-9_]/) },
  {
    name: 'a GitLab token',
    // The newer ones have parts behind dots, and what comes before the first dot may be short.
    form: /gl(?:pat|ptt|dt|rtr?|cbt|ft|ffct|oas|soat|agent|imt|wt)-(?:[A-Za-z0-9_-]{20}|[A-Za-z0-9_-]{3,19}\.0[0-9a-z]\.[A-Za-z0-9_-]{8})|GR1348941[A-Za-z0-9_-]{20}/g,
    toEnd: takeRoutable,
  },
  {
    name: 'a Slack token',
    form: /xox[abceprs]-[A-Za-z0-9-]{10}|xapp-[0-9]-[A-Za-z0-9-]{20}/g,
    toEnd: takeDashed,
    accepts: isMixed,
  },
  {
    name: 'a Slack token',
    form: /xoxd-[A-Za-z0-9%+/_-]{20}/g,
    toEnd: takeAll(/[A-Za-z0-9%+/=_-]/),
  },
  {
    name: 'the address of a Slack hook',
    form: /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9/_-]{20}/g,
    toEnd: takeAll(/[A-Za-z0-9/_-]/),
    // The one of the documentation.
    accepts: (value) => !value.endsWith(`/${'X'.repeat(24)}`),
  },
  {
    // A name of words with dashes is none: keys of providers have figures in them.
    name: 'a key of a model provider',
    form: /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))sk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{32}/g,
    toEnd: takeWord,
    accepts: isMixed,
  },
  {
    // `task-` and `disk-` end with the same letters.
    name: 'a key of a model provider',
    form: /sk-(?:ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{20}|(?:proj|svcacct|admin)-(?=[A-Za-z]{0,19}[0-9])[A-Za-z0-9]{20})/g,
    toEnd: takeWord,
  },
  { name: 'a key of a model provider', form: /sk-or-v1-[0-9a-f]{64}/g },
  {
    name: 'a key of a model provider',
    form: /sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}/g,
    toEnd: takeLetters,
  },
  {
    name: 'a key of a model provider',
    form: /hf_[A-Za-z0-9]{34}|gsk_[A-Za-z0-9]{52}|xai-[A-Za-z0-9]{80}|pplx-[A-Za-z0-9]{48}|r8_[A-Za-z0-9]{37}/g,
    toEnd: takeLetters,
    accepts: isMixed,
  },
  {
    name: 'a key of a model provider',
    form: /(?<![A-Za-z0-9])fw_[A-Za-z0-9]{22}/g,
    toEnd: takeLetters,
    accepts: isMixed,
  },
  { name: 'a Google key', form: /AIza[A-Za-z0-9_-]{35}/g, toEnd: takeWord },
  {
    name: 'a Google token',
    form: /ya29\.[A-Za-z0-9_-]{20}|GOCSPX-[A-Za-z0-9_-]{28}|AQ\.Ab8RN6[A-Za-z0-9_-]{20}/g,
    toEnd: takeWord,
  },
  {
    name: 'a Google token',
    form: /(?<![A-Za-z0-9])1\/\/0[A-Za-z0-9_-]{28}/g,
    toEnd: takeWord,
    accepts: isMixed,
  },
  { name: 'an npm token', form: /npm_[A-Za-z0-9]{36}/g, toEnd: takeLetters },
  {
    name: 'an npm token',
    form: /(?:(?<![^\s"'-])_authToken=|[:"']_authToken[\\"']{0,3}[ \t]{0,4}[:=][ \t]{0,4})[[(]?[\\"']{0,3}([A-Za-z0-9+/_.-]{8})/g,
    toEnd: takeHeaderValue,
    accepts: isMixed,
  },
  {
    name: 'an npm token',
    form: /(?<![A-Za-z0-9])_auth[\\"']{0,3}[ \t]{0,4}[:=][ \t]{0,4}[[(]?[\\"']{0,3}([A-Za-z0-9+/]{8})/g,
    toEnd: takeHeaderValue,
    accepts: isCredentials,
  },
  {
    name: 'a Stripe key',
    form: /[rs]k_(?:live|test)_[A-Za-z0-9]{16}|whsec_[A-Za-z0-9+/]{24}/g,
    toEnd: takeAll(/[A-Za-z0-9+/=]/),
    accepts: isMixed,
  },
  {
    name: 'a key of AWS Bedrock',
    form: /ABSK[A-Za-z0-9+/]{40}/g,
    toEnd: takeAll(/[A-Za-z0-9+/=]/),
    accepts: isMixed,
  },
  { name: 'a token of Forge', form: /fgt_[A-Za-z0-9_-]{43}/g },
  {
    name: 'a JSON web token',
    form: /ey(?:J|Ai)|ewog/g,
    toEnd: takeAll(/[A-Za-z0-9._-]/),
    accepts: isWebToken,
  },
  {
    name: 'a value of Authorization',
    form: /\bbearer[ \t]{1,4}[\\"']{0,3}([A-Za-z0-9._~+/-]{20})/gi,
    toEnd: takeHeaderValue,
    accepts: isMixed,
  },
  {
    name: 'a value of Authorization',
    form: /authorization[\\"']{0,3}(?:[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}|,?(?:\s|\\[nrt]){0,24}[\\"']{0,3}value[\\"']{0,3}[ \t]{0,4}[:=][ \t]{0,4})[[(]?[\\"']{0,3}(?!aws4-)(?:(?:basic|token|apikey|digest)[ \t]{1,4})?([A-Za-z0-9._~+/-]{16})/gi,
    toEnd: takeHeaderValue,
    accepts: isMixed,
  },
  {
    name: 'a value of Authorization',
    form: /authorization[\\"']{0,3}(?:[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}|,?(?:\s|\\[nrt]){0,24}[\\"']{0,3}value[\\"']{0,3}[ \t]{0,4}[:=][ \t]{0,4})[[(]?[\\"']{0,3}basic[ \t]{1,4}([A-Za-z0-9+/]{8})/gi,
    toEnd: takeHeaderValue,
    accepts: isCredentials,
  },
  {
    // Behind the name of a scheme less is enough.
    name: 'a value of Authorization',
    form: /authorization[\\"']{0,3}(?:[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}|,?(?:\s|\\[nrt]){0,24}[\\"']{0,3}value[\\"']{0,3}[ \t]{0,4}[:=][ \t]{0,4})[[(]?[\\"']{0,3}(?:basic|bearer|token|bot|api-?key|key|negotiate|ntlm|jwt|dpop|oauth|sso-key|ssws|splunk)[ \t]{1,4}[\\"']{0,3}([A-Za-z0-9._~+/-]{8})/gi,
    toEnd: takeHeaderValue,
    accepts: isMixed,
  },
  {
    name: 'a value of Authorization',
    form: /authorization[\\"']{0,3}(?:[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}|,?(?:\s|\\[nrt]){0,24}[\\"']{0,3}value[\\"']{0,3}[ \t]{0,4}[:=][ \t]{0,4})[[(]?[\\"']{0,3}[A-Za-z][A-Za-z0-9-]{2,24}[ \t]{1,4}(?=[A-Za-z][A-Za-z0-9_-]{0,30}=)()/gi,
    toEnd: takeParameters,
    accepts: hasMixedValue,
  },
  {
    name: 'a password in an address',
    form: /[A-Za-z0-9]:\/\/(?!\[)[^\s:@/\\"'<>]{0,100}:([^\s/\\"'<>])/g,
    toEnd: takePassword,
    accepts: isPassword,
  },
  {
    name: 'a key of Azure',
    form: /(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40})/gi,
    toEnd: takeAll(/[A-Za-z0-9+/=]/),
    accepts: isMixed,
  },
  {
    // A signed address says until when it is good, or by which version it was signed.
    name: 'a signed address of Azure',
    form: /[?&](?:amp;)?sig=([A-Za-z0-9%+/_-]{40})/g,
    toEnd: takeAll(/[A-Za-z0-9%+/=_-]/),
    accepts: isMixed,
  },
  { name: 'a DigitalOcean token', form: /do[opr]_v1_[0-9a-f]{64}/g },
  { name: 'a PyPI token', form: /pypi-Ag[A-Za-z0-9_-]{48}/g, toEnd: takeWord, accepts: isMixed },
  { name: 'a Docker token', form: /dckr_[op]at_[A-Za-z0-9_-]{20}/g, toEnd: takeWord, accepts: isMixed },
  {
    name: 'a Vault token',
    form: /(?<![A-Za-z0-9])hv[bsr]\.[A-Za-z0-9_-]{24}/g,
    toEnd: takeWord,
    accepts: isMixed,
  },
  { name: 'a SendGrid key', form: /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g },
  { name: 'a Databricks token', form: /(?<![A-Za-z0-9])dapi[0-9a-f]{32}(?![0-9A-Za-z])(?:-\d)?/g },
  { name: 'a Shopify token', form: /shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}/g },
  { name: 'a Linear key', form: /lin_(?:api|oauth)_[A-Za-z0-9]{40}/g, toEnd: takeLetters },
  { name: 'a Supabase token', form: /sbp_[0-9a-f]{40}/g },
  { name: 'an Atlassian token', form: /ATATT3xFfGF0[A-Za-z0-9_=-]{40}/g, toEnd: takeAll(/[A-Za-z0-9_=-]/) },
  { name: 'a private key of age', form: /AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}/g },
  {
    name: 'a value of X-Api-Key',
    form: /x[-_]api[-_]key[\\"']{0,3}(?:[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}|,?(?:\s|\\[nrt]){0,24}[\\"']{0,3}value[\\"']{0,3}[ \t]{0,4}[:=][ \t]{0,4})[[(]?[\\"']{0,3}([A-Za-z0-9._~+/-]{16})/gi,
    toEnd: takeHeaderValue,
    accepts: isMixed,
  },
  {
    name: 'a password of curl',
    form: /curl (?:[^\n;|]{0,120}? )??(?:-u ?|--user[ =])[\\"']{0,3}[^\s:"'\\]{1,64}:([^\s"'\\])/g,
    toEnd: takeAll(/[^\s"'\\]/),
    accepts: isPassword,
  },
  {
    name: 'a password of a database',
    form: /(?:server|data source|host|address|endpoint|port|user ?id|uid|user|username|database|initial catalog)=[^;\n]{1,100};[ ]?(?:password|pwd)=([^;\s"'\\<>])/gi,
    toEnd: takeAll(/[^;\s"'\\<>]/),
    accepts: isPassword,
  },
  {
    name: 'a password in an address',
    form: /[?&](?:amp;)?(?:password|pwd)=([^&\s"'\\<>#;])/gi,
    toEnd: takeAll(/[^&\s"'\\<>#;]/),
    accepts: (value) => isPassword(value) && isMixed(value),
  },
];

/** What a pattern has found, and where. */
export interface FoundForm {
  readonly value: string;
  readonly from: number;
}

/** All keys of one form, apart from each other. */
export function listForms(text: string, { form, toEnd, accepts }: SecretPattern): FoundForm[] {
  const found: FoundForm[] = [];
  // Without a match, which is nearly always, `matchAll` would cost a copy of the pattern: ten times as much on a short line.
  if (text.search(form) < 0) return found;
  let last = 0;
  for (const match of text.matchAll(form)) {
    const behind = match.index + match[0].length;
    const from = behind - (match[1] ?? match[0]).length;
    // In what belongs to the key before it.
    if (from < last) continue;
    const end = toEnd?.(text, behind) ?? behind;
    last = Math.max(behind, end);
    if (end < 0) continue;
    const value = text.slice(from, last);
    if (accepts?.(value) !== false && !isExample(value)) found.push({ value, from });
  }
  return found;
}

/** One of these stands in every text that one of the forms matches: nearly all texts are told by this one look. */
export const ANY_SECRET =
  /PRIVATE KEY(?: BLOCK)?-----|Private-Lines: |A[KS]IA|[Ss]ecret[_ -]?(?:[Aa]ccess|[Kk]ey)|SECRET[_ -]?(?:ACCESS|KEY)|(?:ssion|SSION|urity|URITY)[_ -]?(?:TOKEN|[Tt]oken)|gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rtr?|cbt|ft|ffct|oas|soat|agent|imt|wt)-|GR1348941|xox[abcdeprs]-|xapp-|hooks\.slack|sk-|hf_|gsk_|xai-|pplx-|r8_|fw_|AIza|ya29\.|GOCSPX-|AQ\.Ab|1\/\/0|npm_|_auth(?:Token)?[\\"']{0,3}[ \t]{0,4}[:=]|k_(?:live|test)_|whsec_|ABSK|fgt_|ey(?:J|Ai)|ewog|[Bb]earer|BEARER|[Uu]thorization|AUTHORIZATION|(?:ccount|CCOUNT|ccess|CCESS)[Kk](?:EY|ey)=|[?&;]sig=|do[opr]_v1_|pypi-Ag|dckr_|hv[bsr]\.|SG\.|dapi[0-9a-f]|shp(?:at|ca|pa|ss)_|lin_(?:api|oauth)_|sbp_|ATATT3|AGE-SECRET|[Xx][-_][Aa][Pp][Ii][-_][Kk]|curl |(?:[Pp]assword|PASSWORD|[Pp]wd|PWD)=|:\/\/[^\s:@/\\"'<>]{0,100}:(?!\d{1,5}(?![^\s/?#"'<>,;:.)\]}]))[^\s/\\"'<>]/;
