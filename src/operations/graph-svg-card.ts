import type { TaskType } from '#contract/task.ts';
import { describeLook, splitCharacters, toLine } from './graph-label.ts';
import type { GraphTask, ShapeBox, ShapeItem } from './graph-shape.ts';
import { BOX, type Rect } from './graph-svg-geometry.ts';
import { escapeXml, fitLine, measure, wrapLines } from './graph-text.ts';

const PAD = 16;
/** A monospace character of 11px; ids are ASCII. */
const MONO = 6.7;

const NARROW_BOX = 360;

/** Drawn in a field of 12 by 12. */
const ICONS: Readonly<Record<TaskType, string>> = {
  task: 'M2.5 1.5h7a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1zM4 6.2l1.5 1.5L8.2 4.6',
  bug: 'M3.5 5.5a2.5 2.5 0 0 1 5 0v2a2.5 2.5 0 0 1-5 0zM4.6 3.2L3.6 1.8M7.4 3.2l1-1.4M3.5 6.5h-2M10.5 6.5h-2M3.8 9l-1.3 1.4M8.2 9l1.3 1.4',
  feature: 'M6 1.2l1.4 3.1 3.4.4-2.5 2.3.7 3.3L6 8.7l-3 1.6.7-3.3L1.2 4.7l3.4-.4z',
  epic: 'M6 1.3l5 2.6-5 2.6-5-2.6zM1.2 6.3L6 8.8l4.8-2.5M1.2 8.6L6 11.1l4.8-2.5',
  message: 'M2.3 2h7.4a1 1 0 0 1 1 1v4.4a1 1 0 0 1-1 1H6l-2.6 2.1V8.4H2.3a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1z',
};

export function drawItem(item: ShapeItem, rect: Rect): string {
  const open = `<g class="${classesOf(item)}" transform="translate(${round(rect.x)} ${round(rect.y)})">`;
  if (item.task === null) return `${open}${drawUnknown(item, rect)}</g>`;
  if (item.kind === 'handle') return `${open}${drawHandle(item, rect)}</g>`;
  return `${open}${drawCard(item, item.task, rect)}</g>`;
}

/** The frame of a parent; lines cross it. */
export function drawBox(box: ShapeBox, rect: Rect): string {
  const [x, y, width] = [round(rect.x), round(rect.y), round(rect.width)];
  return [
    `<g class="item ${box.look}" transform="translate(${x} ${y})">`,
    `<title>${escapeXml(describeTask(box.task, describeLook(box)))}</title>`,
    `<rect class="box" width="${width}" height="${round(rect.height)}" rx="14"/>`,
    `<path class="box-header" d="M0 ${BOX.title}V14A14 14 0 0 1 14 0H${round(rect.width - 14)}A14 14 0 0 1 ${width} 14V${BOX.title}z"/>`,
    '</g>',
  ].join('');
}

/** What its card would have said; over the lines, so that it stays legible. */
export function drawBoxHeader(box: ShapeBox, rect: Rect): string {
  const { task } = box;
  // Over a single column the title needs the room; the dot and the tooltip still tell.
  const word = rect.width < NARROW_BOX ? '' : fitLine(describeLook(box), { width: 90, size: 11 });
  const right = rect.width - 14;
  const wordStart = right - 36 - measure(word, 11) * 1.1;
  const nameStart = 36 + toLine(box.id).length * MONO + 10;
  const name = fitLine(task.title, { width: wordStart - nameStart - 26, size: 12.5 });
  return [
    `<g class="item ${box.look} over" transform="translate(${round(rect.x)} ${round(rect.y)})">`,
    `<path class="icon" transform="translate(14 9)" d="${ICONS[task.type]}"/>`,
    `<text class="mono soft" x="33" y="19.5">${escapeXml(box.id)}</text>`,
    `<text class="box-name" x="${round(nameStart)}" y="19.5">${escapeXml(name)}</text>`,
    `<circle class="bar" cx="${round(wordStart - 9)}" cy="15.5" r="3.5"/>`,
    `<text class="word" x="${round(wordStart)}" y="19.5">${escapeXml(word)}</text>`,
    `<text class="rank end ${priorityClass(task)}" x="${round(right)}" y="19.5">P${task.priority}</text>`,
    '</g>',
  ].join('');
}

function drawCard(item: ShapeItem, task: GraphTask, rect: Rect): string {
  const { width, height } = rect;
  const right = width - PAD + 2;
  const lines = wrapLines(task.title, { width: width - 2 * PAD - 4, size: 13, lines: 2 });
  const marks = [task.type, ...(item.parent_mark === null ? [] : [`in ${item.parent_mark}`])].join(' ');
  const markStart = 36 + toLine(item.id).length * MONO + 8;
  const word = fitLine(describeLook(item), { width: 100, size: 11 });
  const titleTop = lines.length === 1 ? 50 : 44;
  return [
    `<title>${escapeXml(describeTask(task, describeLook(item)))}</title>`,
    `<rect class="card" width="${width}" height="${height}" rx="10"/>`,
    `<path class="bar" d="M5 ${height}h-.01A10 10 0 0 1 0 ${height - 10}V10A10 10 0 0 1 5 1.34z" transform="translate(0 -.6)"/>`,
    '<g clip-path="url(#forge-graph-card)">',
    `<path class="icon" transform="translate(${PAD} 12)" d="${ICONS[task.type]}"/>`,
    `<text class="mono soft" x="${PAD + 19}" y="22">${escapeXml(item.id)}</text>`,
    `<text class="soft" x="${round(markStart)}" y="22">${escapeXml(fitLine(marks, { width: right - 34 - markStart, size: 11 }))}</text>`,
    `<rect class="chip" x="${right - 25}" y="10" width="25" height="16" rx="5"/>`,
    `<text class="rank middle ${priorityClass(task)}" x="${right - 12.5}" y="22">P${task.priority}</text>`,
    ...lines.map(
      (line, i) => `<text class="name" x="${PAD}" y="${titleTop + i * 17}">${escapeXml(line)}</text>`,
    ),
    `<circle class="bar" cx="${PAD + 4}" cy="82" r="3.5"/>`,
    `<text class="word" x="${PAD + 13}" y="86">${escapeXml(word)}</text>`,
    ...drawAssignee(task.assignee, { right, room: right - PAD - 13 - measure(word, 11) - 36 }),
    '</g>',
  ].join('');
}

function drawAssignee(assignee: string | null, place: { right: number; room: number }): string[] {
  if (assignee === null) return [];
  const [initial = ''] = splitCharacters(toLine(assignee), 1);
  return [
    `<circle class="chip" cx="${place.right - 8}" cy="82" r="8"/>`,
    `<text class="rank middle soft" x="${place.right - 8}" y="86">${escapeXml(initial.toUpperCase())}</text>`,
    `<text class="soft end" x="${place.right - 21}" y="86">${escapeXml(fitLine(assignee, { width: place.room, size: 11 }))}</text>`,
  ];
}

function drawHandle(item: ShapeItem, rect: Rect): string {
  return [
    `<rect class="card" width="${rect.width}" height="${rect.height}" rx="${rect.height / 2}"/>`,
    `<circle class="bar" cx="15" cy="${rect.height / 2}" r="3.5"/>`,
    `<text class="mono soft" x="25" y="${rect.height / 2 + 4}">${escapeXml(fitLine(item.id, { width: rect.width - 30, size: 11 }))}</text>`,
  ].join('');
}

function drawUnknown(item: ShapeItem, rect: Rect): string {
  return [
    `<rect class="card" width="${rect.width}" height="${rect.height}" rx="10"/>`,
    `<text class="mono soft" x="${PAD}" y="42">${escapeXml(fitLine(item.id, { width: rect.width - 2 * PAD, size: 11 }))}</text>`,
    `<text class="soft" x="${PAD}" y="62">not in this graph</text>`,
  ].join('');
}

function classesOf(item: ShapeItem): string {
  if (item.kind === 'unknown') return 'item unknown';
  return item.look === 'ready' || item.look === 'in_progress'
    ? `item ${item.look} strong`
    : `item ${item.look}`;
}

function priorityClass(task: GraphTask): string {
  return task.priority < 2 ? `p${task.priority}` : 'soft';
}

function describeTask(task: GraphTask, word: string): string {
  return `${task.id} ${task.title} (${task.type}, P${task.priority}, ${word})`;
}

/** A tenth of a pixel is enough, and keeps the file small. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
