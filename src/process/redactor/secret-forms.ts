import { dropEnd } from '#kernel/text.ts';

interface FormLimits {
  readonly min_length: number;
  readonly piece_length: number;
}

/** All the ways in which a secret is looked for. Empty for one that is too short. */
export function listSecretForms(secret: string, limits: FormLimits): readonly string[] {
  const pieces = [secret, ...listTrimmed(secret), ...listLines(secret)]
    .filter((piece) => piece.length >= limits.min_length)
    .flatMap((piece) => cutIntoPieces(piece, limits.piece_length));
  const wrapped = secret.length >= limits.min_length ? listWrapped(secret) : [];
  const forms = new Set([...pieces.flatMap(listForms), ...wrapped]);
  return [...forms].filter((form) => form.length >= limits.min_length);
}

/**
 * A value from a file with Windows line ends has a CR at its end, and a shell that splits it into words leaves one blank
 * between them: what is printed then is without the rest.
 */
function listTrimmed(secret: string): readonly string[] {
  const trimmed = secret.trim();
  return [trimmed, trimmed.split(/\s+/).join(' ')];
}

/** A key in a file of several lines is mostly shown line by line. Its first and last line are in every such file. */
function listLines(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return lines.length === 1 ? [] : lines.filter((line) => !line.startsWith('-----'));
}

/** The last piece goes back as far as it must to be a whole one. */
function cutIntoPieces(text: string, length: number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at + length < text.length; at += length) pieces.push(text.slice(at, at + length));
  return [...pieces, text.slice(Math.max(0, text.length - length))];
}

function listForms(text: string): readonly string[] {
  const bytes = Buffer.from(text, 'utf8');
  const hex = bytes.toString('hex');
  const percent = toPercent(text);
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return [
    text,
    hex,
    hex.toUpperCase(),
    ...percent,
    json,
    ascii,
    json.replaceAll('/', '\\/'),
    // A transcript is JSON, and what it quotes often is too, and what that quotes.
    ...listNested(json),
    ...listQuoted(text).flatMap((form) => [form, ...listNested(form)]),
    ...listBytes(bytes),
    ...listBase64(bytes),
    ...listTwice(bytes),
    ...listWide(text),
  ];
}

/**
 * A letter beyond ASCII is several bytes, of which programs write each as an escape: all bytes of the value, or those alone.
 * An escape that was read is a letter of Latin 1, which is how other ways to write bytes are found.
 */
function listBytes(bytes: Buffer): readonly string[] {
  if (bytes.every((byte) => byte < 0x80)) return [];
  const write = (escape: (byte: number) => string, from: number): string =>
    Array.from(bytes, (byte) => (byte < from ? String.fromCharCode(byte) : escape(byte))).join('');
  const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
  const escapes: readonly ((byte: number) => string)[] = [
    (byte) => `%${hex(byte)}`,
    (byte) => `%${hex(byte).toUpperCase()}`,
    (byte) => `\\x${hex(byte)}`,
    (byte) => `\\x${hex(byte).toUpperCase()}`,
    (byte) => `\\${byte.toString(8).padStart(3, '0')}`,
  ];
  const forms = escapes.flatMap((escape) => [write(escape, 0), write(escape, 0x80)]);
  return [bytes.toString('latin1'), ...forms, ...forms.flatMap(listNested)];
}

function listNested(text: string): readonly string[] {
  const once = JSON.stringify(text).slice(1, -1);
  return [once, JSON.stringify(once).slice(1, -1)];
}

/** Signs that `printf %q` of bash puts a backslash before, and those that stand so between double quotes. */
const BARE_SIGNS = /[\t !"$&'()*,;<>?[\\\]^`{|}]/g;
const QUOTED_SIGNS = /["$`\\]/g;
const CONTROLS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** As shells print a value that they could read again (`export -p`, `set -x`, `printf %q`), and Python and SQL. */
function listQuoted(text: string): readonly string[] {
  if (!/[^\w\-./:@%+=~#]/.test(text)) return [];
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(/[\n\r\t]/g, (sign) => CONTROLS[sign] ?? sign);
  return [
    text.replaceAll(QUOTED_SIGNS, '\\$&'),
    text.replaceAll(BARE_SIGNS, '\\$&'),
    text.replaceAll("'", `'\\''`),
    text.replaceAll("'", `'"'"'`),
    text.replaceAll("'", "''"),
    text.replaceAll('"', '""'),
    escaped,
    escaped.replaceAll("'", "\\'"),
  ];
}

/** Base64 of base64 of more bytes is long enough to be read as such. */
const LONGEST_TWICE = 16;

function listTwice(bytes: Buffer): readonly string[] {
  if (bytes.length > LONGEST_TWICE) return [];
  return [...new Set(listBase64(bytes))].flatMap((form) => listBase64(Buffer.from(form)));
}

/** Of two bytes a letter, as Windows and its shells write texts. */
function listWide(text: string): readonly string[] {
  const little = Buffer.from(text, 'utf16le');
  return [little, Buffer.from(little).swap16()].flatMap((bytes) => {
    const hex = bytes.toString('hex');
    return [hex, hex.toUpperCase(), ...listBase64(bytes)];
  });
}

function toPercent(text: string): readonly string[] {
  const upper = encodeURIComponent(text.toWellFormed());
  const strict = upper.replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return [upper, strict, strict.replaceAll('%20', '+')].flatMap((form) => [
    form,
    form.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
  ]);
}

/**
 * Base64 says three bytes in four characters, so a secret inside of something longer (`user:secret`) looks different
 * after each remainder of three; characters that also depend on its neighbours are left out.
 */
function listBase64(bytes: Buffer): readonly string[] {
  const forms = [0, 1, 2].map((offset) => {
    const shifted = toBase64(Buffer.concat([Buffer.alloc(offset), bytes]));
    const from = Math.ceil((offset * 8) / 6);
    return shifted.slice(from, Math.floor(((offset + bytes.length) * 8) / 6));
  });
  return [toBase64(bytes), ...forms].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}

/** Programs that wrap base64 do so after 64 or 76 characters, and then it is shown line by line. */
function listWrapped(secret: string): readonly string[] {
  const whole = toBase64(Buffer.from(secret, 'utf8'));
  const lines = [/.{1,64}/g, /.{1,76}/g].flatMap((columns) =>
    whole.length > 64 ? (whole.match(columns) ?? []) : [],
  );
  return [...lines, ...listWindows(secret)];
}

/** Of those that wrap it elsewhere each line has one of these. Many words: only for secrets of the length of a key. */
function listWindows(secret: string): readonly string[] {
  if (secret.length > LONGEST_IN_WINDOWS) return [];
  const forms = new Set(listBase64(Buffer.from(secret, 'utf8')));
  return [...forms].flatMap((form) =>
    Array.from({ length: Math.max(0, form.length - WINDOW + 1) }, (_, at) => form.slice(at, at + WINDOW)),
  );
}

const WINDOW = 12;
const LONGEST_IN_WINDOWS = 128;

function toBase64(bytes: Buffer): string {
  return dropEnd(bytes.toString('base64'), '=');
}
