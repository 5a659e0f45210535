import type { JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine, utf8Length } from '#kernel/text.ts';
import { fitMetadata, type Say, type Spill } from './fit-metadata.ts';
import {
  createdTime,
  type AddNote,
  type TrackerComment,
  type TrackerTask,
  type Tracker,
} from './tracker-task.ts';
import { cutText, splitBytes, storable, toName, toOneLine } from './tracker-text.ts';

/** The parts of a task that have a limit, within it. */
export interface FittedTask {
  readonly title: string;
  readonly description: string;
  readonly assignee: string | null;
  readonly created_by: string;
  readonly close_reason: string | null;
  readonly labels: readonly string[];
  readonly metadata: JsonObject;
  readonly comments: readonly Required<TrackerComment>[];
}

/** Nothing is lost by being long: the whole goes into the description, into metadata or into comments. */
export function fitTask(tool: Tracker, task: TrackerTask, note: AddNote): FittedTask {
  const say = (field: string, what: string): void => note({ where: task.id, field, what });
  const comments: TrackerComment[] = task.comments.filter((comment) => comment.body.trim() !== '');
  if (comments.length < task.comments.length) say('comments', 'an empty comment was left out');
  const spill = (heading: string, text: string): void => {
    const room = LIMITS.comment_bytes - utf8Length(heading) - 2;
    for (const piece of splitBytes(storable(text), room)) {
      // Each a millisecond later, so that the pieces stay in order.
      comments.push({
        author: tool,
        body: `${heading}\n\n${piece}`,
        at: createdTime(task) + comments.length,
      });
    }
  };
  const { title, description } = fitTexts(task, say, spill);
  const assignee = fitName(task, 'assignee', say);
  const labels = fitLabels(task, say);
  return {
    title,
    description,
    assignee: assignee === '' ? null : assignee,
    created_by: fitName(task, 'created_by', say) || tool,
    close_reason: fitCloseReason(task, say, spill),
    labels,
    metadata: fitMetadata(tool, task, say, spill),
    comments: comments.flatMap((comment) => fitComment(tool, task, comment)),
  };
}

function fitTexts(task: TrackerTask, say: Say, spill: Spill): { title: string; description: string } {
  const line = toOneLine(storable(task.title));
  const whole = escapeLine(line);
  if (whole !== line) say('title', 'has control characters, which are written out');
  let description = storable(task.description);
  if (description !== task.description || storable(task.title) !== task.title) {
    say('description', 'NUL characters and broken surrogates cannot be kept and were replaced');
  }
  if (/[\n\r\u2028\u2029]/.test(task.title.trim()))
    say('title', 'is one line here; its line breaks became spaces');
  if (whole === '') {
    say('title', 'is empty; the task is called by its id');
    return { title: `Untitled ${toName(task.id)}`, description };
  }
  let title = whole;
  if (whole.length > LIMITS.title_length) {
    title = `${cutText(whole, LIMITS.title_length - 1)}…`;
    description = description === '' ? whole : `${whole}\n\n${description}`;
    say('title', `is longer than ${LIMITS.title_length} characters; the whole stands in the description`);
  }
  const [first = '', ...rest] = splitBytes(description, LIMITS.description_bytes);
  if (rest.length > 0) {
    spill('The description goes on:', rest.join(''));
    say('description', `is longer than ${LIMITS.description_bytes} bytes; the rest stands in comments`);
  }
  return { title, description: first };
}

function fitName(task: TrackerTask, field: 'assignee' | 'created_by', say: Say): string {
  const given = task[field];
  const name = cutText(toName(given), LIMITS.identity_length).trim();
  if (name !== given) {
    task.kept.set(field, given);
    say(field, 'is one short line here; the whole is kept in metadata');
  }
  return name;
}

function fitLabels(task: TrackerTask, say: Say): string[] {
  const fitting = new Set<string>();
  const left: string[] = [];
  for (const given of task.labels) {
    const label = toName(given);
    if (label === '') continue;
    const fits = label.length <= LIMITS.label_length;
    if (fits && (fitting.has(label) || fitting.size < LIMITS.labels_per_task)) fitting.add(label);
    else left.push(given);
  }
  if (left.length > 0) {
    task.kept.set('labels', left);
    say('labels', 'some are too long or too many; kept in metadata');
  }
  return [...fitting];
}

function fitCloseReason(task: TrackerTask, say: Say, spill: Spill): string | null {
  const whole = storable(task.close_reason);
  if (whole.trim() === '') return null;
  if (whole.length <= LIMITS.close_reason_length) return whole;
  spill('The whole reason for closing:', whole);
  say(
    'close_reason',
    `is longer than ${LIMITS.close_reason_length} characters; the whole stands in a comment`,
  );
  return `${cutText(whole, LIMITS.close_reason_length - 1)}…`;
}

function fitComment(tool: Tracker, task: TrackerTask, comment: TrackerComment): Required<TrackerComment>[] {
  const author = cutText(toName(comment.author), LIMITS.identity_length).trim() || tool;
  const at = comment.at ?? createdTime(task);
  return splitBytes(storable(comment.body), LIMITS.comment_bytes)
    .filter((body) => body.trim() !== '')
    .map((body, piece) => ({ author, body, at: at + piece }));
}
