/** A part of a text that may say another text in base64 or hex, and what it would say. */
export interface EncodedRun {
  readonly from: number;
  readonly to: number;
  /** One for each place at which it may begin; what is none of them says noise. */
  readonly readings: readonly string[];
}

/** The shortest key has 20 characters. Hex may have a blank, a colon or a comma between its bytes. */
const RUN =
  /[A-Za-z0-9+/_-]{27,}|(?<![0-9A-Za-z])(?:(?:0x)?[0-9A-Fa-f]{2}(?:[0-9A-Fa-f]{2})?[ :,]{1,2}){9,}(?:0x)?[0-9A-Fa-f]{2}(?:[0-9A-Fa-f]{2})?(?![0-9A-Za-z])/g;
const HEX = /^[0-9A-Fa-f]{40,}$/;

/** No key is shorter, and what is no text has so many of its characters in a row by a rare chance only. */
const SAYS = /[ -~]{12}/;

/** No run goes over the end of a line, and nearly no line has one: those are passed over fifty times as fast. */
export function listEncodedRuns(text: string): EncodedRun[] {
  const runs: EncodedRun[] = [];
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start);
    const stop = end < 0 ? text.length : end;
    if (mayHoldRun(text, start, stop)) {
      for (const { 0: run, index } of text.slice(start, stop).matchAll(RUN)) {
        const from = start + index;
        const readings = readRun(run).filter((said) => SAYS.test(said));
        runs.push({ from, to: from + run.length, readings });
      }
    }
    start = stop + 1;
  }
  return runs;
}

/** What the shortest of both kinds of RUN have: so many letters of base64, or of hex and what stands between its bytes. */
const LETTERS_AT_LEAST = 27;
const BYTES_AT_LEAST = 29;
const IS_LETTER = 1;
const IS_BYTE = 2;
const KINDS: readonly number[] = Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code);
  return (/[A-Za-z0-9+/_-]/.test(sign) ? IS_LETTER : 0) + (/[0-9A-Fa-fx :,]/.test(sign) ? IS_BYTE : 0);
});

function mayHoldRun(text: string, start: number, stop: number): boolean {
  let letters = 0;
  let bytes = 0;
  for (let at = start; at < stop; at += 1) {
    const kind = KINDS[text.charCodeAt(at)] ?? 0;
    letters = (kind & IS_LETTER) === 0 ? 0 : letters + 1;
    bytes = (kind & IS_BYTE) === 0 ? 0 : bytes + 1;
    if (letters >= LETTERS_AT_LEAST || bytes >= BYTES_AT_LEAST) return true;
  }
  return false;
}

function readRun(run: string): string[] {
  const digits = /[ :,]/.test(run) ? run.replaceAll(/0x|[ :,]/g, '') : run;
  const hex = HEX.test(digits) ? [readHex(digits, 0), readHex(digits, 1)] : [];
  return digits === run ? [...hex, ...[0, 1, 2, 3].map((start) => readBase64(run, start))] : hex;
}

function readHex(digits: string, start: number): string {
  const codes: number[] = [];
  for (let at = start; at + 1 < digits.length; at += 2)
    codes.push((digitOf(digits.charCodeAt(at)) << 4) | digitOf(digits.charCodeAt(at + 1)));
  return toText(codes);
}

function digitOf(code: number): number {
  return code <= 57 ? code - 48 : (code | 32) - 87;
}

/** What each letter of base64 stands for, by its code; those for addresses too. */
const VALUES: readonly number[] = toValues();

function toValues(): number[] {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_';
  const values = Array.from({ length: 128 }, () => 0);
  for (let at = 0; at < letters.length; at += 1) values[letters.charCodeAt(at)] = at < 64 ? at : at - 2;
  return values;
}

/** Bytes as characters: keys are of ASCII alone. */
function readBase64(run: string, start: number): string {
  const codes: number[] = [];
  let bits = 0;
  let count = 0;
  for (let at = start; at < run.length; at += 1) {
    bits = ((bits << 6) | (VALUES[run.charCodeAt(at)] ?? 0)) & 0xff_ff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      codes.push((bits >> count) & 0xff);
    }
  }
  return toText(codes);
}

/** As many at once as a call may have arguments. */
const AT_ONCE = 4_096;

function toText(codes: readonly number[]): string {
  if (codes.length <= AT_ONCE) return String.fromCharCode(...codes);
  let text = '';
  for (let at = 0; at < codes.length; at += AT_ONCE)
    text += String.fromCharCode(...codes.slice(at, at + AT_ONCE));
  return text;
}
