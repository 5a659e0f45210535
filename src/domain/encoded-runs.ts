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

export function listEncodedRuns(text: string): EncodedRun[] {
  return Array.from(text.matchAll(RUN), ({ 0: run, index: from }) => ({
    from,
    to: from + run.length,
    readings: readRun(run),
  }));
}

function readRun(run: string): string[] {
  const digits = /[ :,]/.test(run) ? run.replaceAll(/0x|[ :,]/g, '') : run;
  const hex = HEX.test(digits) ? [readHex(digits), readHex(digits.slice(1))] : [];
  return digits === run ? [...hex, ...[0, 1, 2, 3].map((start) => readBase64(run, start))] : hex;
}

function readHex(digits: string): string {
  return digits.replaceAll(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map(
  `${LETTERS}-_`.split('').map((letter, at) => [letter.charCodeAt(0), at < 64 ? at : at - 2]),
);

/** Bytes as characters: keys are of ASCII alone. */
function readBase64(run: string, start: number): string {
  let said = '';
  let bits = 0;
  let count = 0;
  for (let at = start; at < run.length; at += 1) {
    bits = ((bits << 6) | (VALUES.get(run.charCodeAt(at)) ?? 0)) & 0xff_ff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      said += String.fromCharCode((bits >> count) & 0xff);
    }
  }
  return said;
}
