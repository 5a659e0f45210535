/** Of Forge's own environment the programs of agents get settings as well as keys; the settings may be told. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i;
const HEADERS_NAME = /HEADER/i;
/** What stands there is in every log, and no key. */
const PLAIN_HEADER = /^(?:accept|accept-.*|content-type|user-agent)$/i;

/**
 * What is secret of a variable: all of one whose name says so, and in others the places where people put keys: values of
 * headers, fields of JSON, and the password or a parameter of an address.
 */
export function listSettingSecrets(name: string, value: string): string[] {
  const whole = SECRET_NAME.test(name) ? [value] : [];
  const headers = HEADERS_NAME.test(name) ? listHeaderValues(value) : [];
  return [...whole, ...headers, ...listJsonSecrets(value), ...listUrlSecrets(value)];
}

/** Lines of `Name: value`, or `name=value` with commas between; of `Bearer x` also the part behind the blank. */
function listHeaderValues(text: string): string[] {
  const lines = text.split(/[\r\n]/).flatMap((line) => (line.includes(':') ? [line] : line.split(',')));
  return lines.flatMap((line) => {
    const at = line.search(/[:=]/);
    const value = line.slice(at + 1).trim();
    if (PLAIN_HEADER.test(line.slice(0, Math.max(0, at)).trim())) return [];
    return [value, value.slice(value.indexOf(' ') + 1)];
  });
}

function listJsonSecrets(text: string): string[] {
  if (!/^\s*[[{]/.test(text)) return [];
  try {
    return listFields(JSON.parse(text));
  } catch {
    // JSON with comments: any text of it that follows a key.
    const pairs = text.matchAll(/"([^"\\]*)"[ \t]*:[ \t]*"([^"\\]*)"/g);
    return [...pairs].flatMap(([, key = '', value = '']) => listField(key, value));
  }
}

function listFields(json: unknown): string[] {
  const found: string[] = [];
  const open: { value: unknown; name: string }[] = [{ value: json, name: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, name } = next;
    if (typeof value === 'string') found.push(...listField(name, value));
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, below] of Object.entries(value)) {
      // What is below headers or a field of keys is such a value too, whatever it is called.
      open.push({ value: below, name: isSecretField(name) && !PLAIN_HEADER.test(key) ? name : key });
    }
  }
  return found;
}

function isSecretField(name: string): boolean {
  return SECRET_NAME.test(name) || HEADERS_NAME.test(name);
}

function listField(name: string, value: string): string[] {
  const own = isSecretField(name) ? [value, value.slice(value.indexOf(' ') + 1)] : [];
  return [...own, ...listUrlSecrets(value)];
}

function listUrlSecrets(text: string): string[] {
  if (!text.includes('://') || !URL.canParse(text)) return [];
  const { username, password, searchParams } = new URL(text);
  const userinfo = (password === '' ? [username] : [password]).flatMap((part) => [part, decodeOr(part)]);
  const named = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  return [...userinfo, ...named].filter((part) => part !== '');
}

function decodeOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
