import { emptyObject, jsonDepth, type Json, type JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { utf8Length } from '#kernel/text.ts';
import { metadataKey, type TrackerTask, type Tracker } from './tracker-task.ts';
import { cutText, storable, storableJson } from './tracker-text.ts';

/** A note about one field of the task. */
export type Say = (field: string, what: string) => void;
/** Text that has no place in a field becomes one comment or more. */
export type Spill = (heading: string, text: string) => void;

/** Values that get a comment each; more of them share one, because comments of a task are counted too. */
const OWN_COMMENTS = 20;
/** The id of the task there, and the object with what has no field here. */
const OWN_KEYS = 2;

/** Their own keys, ours for the id, and one object with all that has no field here. */
export function fitMetadata(tool: Tracker, task: TrackerTask, say: Say, spill: Spill): JsonObject {
  const place = metadataKey(tool);
  const id = `${place}_id`;
  const metadata = emptyObject<Json>();
  const kept = emptyObject<Json>();
  for (const [key, value] of task.kept) kept[storable(key)] = fitValue(value);
  const { odd, over } = sortKeys(task.metadata, metadata, [place, id]);
  if (odd.size > 0) say('metadata', `keys that cannot be keys here are kept in metadata.${place}.metadata`);
  if (over.size > 0) {
    const what = `has more than ${LIMITS.metadata_keys} keys; the others are kept in metadata.${place}.metadata`;
    say('metadata', what);
  }
  if (odd.size + over.size > 0) {
    const others = emptyObject<Json>();
    for (const [key, value] of [...odd, ...over]) others[storable(key)] = fitValue(value);
    kept.metadata = others;
  }
  metadata[id] = storable(task.id);
  if (Object.keys(kept).length > 0) metadata[place] = kept;
  const taken = shrink(metadata, { kept, id });
  for (const { key } of taken)
    say(key, `does not fit into ${LIMITS.metadata_bytes} bytes of metadata; it stands in a comment`);
  for (const { key, json } of taken.slice(0, OWN_COMMENTS)) spill(`metadata.${key}:`, json);
  const others = taken.slice(OWN_COMMENTS).map(({ key, json }) => `${JSON.stringify(key)}: ${json}`);
  if (others.length > 0) spill('More metadata:', others.join('\n'));
  return metadata;
}

/** Puts what can be a key of ours into `metadata`: `odd` cannot, of `over` there are too many. */
function sortKeys(
  theirs: ReadonlyMap<string, Json>,
  metadata: Record<string, Json>,
  reserved: readonly string[],
): { odd: Map<string, Json>; over: Map<string, Json> } {
  const odd = new Map<string, Json>();
  const over = new Map<string, Json>();
  let count = OWN_KEYS;
  for (const [key, value] of theirs) {
    const usable = key !== '' && key.length <= LIMITS.metadata_key_length && storable(key) === key;
    if (!usable || reserved.includes(key)) odd.set(key, value);
    else if (count >= LIMITS.metadata_keys) over.set(key, value);
    else {
      metadata[key] = fitValue(value);
      count += 1;
    }
  }
  return { odd, over };
}

function fitValue(value: Json): Json {
  const clean = storableJson(value);
  return jsonDepth(clean) > LIMITS.metadata_depth - 3 ? JSON.stringify(clean) : clean;
}

/**
 * Takes the largest values out, one after the other, until the rest fits. Of the id something stays: it says that all
 * of the task came from elsewhere. Every value is made JSON once: when all was made anew for each value that goes, a
 * task with 20,000 fields took minutes.
 */
function shrink(
  metadata: Record<string, Json>,
  { kept, id }: { readonly kept: Record<string, Json>; readonly id: string },
): { key: string; json: string }[] {
  const list = (from: Record<string, Json>): { from: typeof from; key: string; json: string }[] =>
    Object.entries(from)
      .filter(([, value]) => value !== kept)
      .map(([key, value]) => ({ from, key, json: JSON.stringify(value) }));
  const values = [...list(kept), ...list(metadata)]
    .map((one) => ({ ...one, bytes: utf8Length(one.json) }))
    .sort((a, b) => b.bytes - a.bytes);
  // One more, because with the last value of `kept` no comma goes.
  let total = utf8Length(JSON.stringify(metadata)) + 1;
  const taken: { key: string; json: string }[] = [];
  for (const { from, key, json, bytes } of values) {
    if (total <= LIMITS.metadata_bytes) break;
    if (from === metadata && key === id) {
      const whole = metadata[id];
      if (typeof whole !== 'string' || whole.length <= LIMITS.identity_length) continue;
      metadata[id] = `${cutText(whole, LIMITS.identity_length - 1)}…`;
      total -= bytes - utf8Length(JSON.stringify(metadata[id]));
    } else {
      delete from[key];
      total -= utf8Length(JSON.stringify(key)) + bytes + 2; // a colon and a comma
    }
    taken.push({ key, json });
  }
  return taken;
}
