interface Span {
  readonly from: number;
  readonly to: number;
}

/** Where what is in a text stood in the one from which it was made by leaving out and replacing parts. */
export interface PlaceMap {
  readonly toPlace: (span: Span) => { from: number; to: number };
}

interface Change extends Span {
  /** Characters that stayed between the change before and this one. */
  readonly kept: number;
  /** Characters that stand in place of those from `from` to `to`. */
  readonly letters: number;
}

/** The last change of all: where it was in the old text, where what was kept before it began, and its letters. */
interface LastChange {
  readonly from: number;
  readonly begin: number;
  readonly letters: number;
}

export interface GrowingPlaceMap extends PlaceMap {
  readonly add: (change: Change) => void;
  /** Undefined where there is none. */
  readonly last: () => LastChange | undefined;
  /** Takes the last one back, and what was kept before it. */
  readonly drop: () => void;
}

/** Changes are added from the beginning of the text to its end. */
export function createPlaceMap(): GrowingPlaceMap {
  /** Of each change: where it is in the new text, and from where to where it was in the old one. */
  let places = new Int32Array(32);
  let count = 0;
  let length = 0;
  const read = (index: number): number => places[index] ?? 0;

  /** The last change at or before a place of the new text; -1 where none is. */
  const findChange = (place: number): number => {
    let low = 0;
    let high = count / WIDTH - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (read(middle * WIDTH) <= place) low = middle + 1;
      else high = middle - 1;
    }
    return high * WIDTH;
  };
  /** Where the character at this place of the new text was. */
  const locate = (place: number): Span => {
    const change = findChange(place);
    if (change < 0) return { from: place, to: place + 1 };
    const behind = place - read(change) - read(change + 3);
    if (behind < 0) return { from: read(change + 1), to: read(change + 2) };
    const from = read(change + 2) + behind;
    return { from, to: from + 1 };
  };
  return {
    add({ kept, from, to, letters }) {
      // What is left out right behind what was left out.
      if (count > 0 && kept === 0 && letters === 0 && read(count - 1) === 0) {
        places[count - 2] = to;
        return;
      }
      if (count + WIDTH > places.length) {
        const larger = new Int32Array(places.length * 2);
        larger.set(places);
        places = larger;
      }
      length += kept;
      places[count] = length;
      places[count + 1] = from;
      places[count + 2] = to;
      places[count + 3] = letters;
      length += letters;
      count += WIDTH;
    },
    last() {
      if (count === 0) return undefined;
      const begin = count > WIDTH ? read(count - WIDTH - 2) : 0;
      return { from: read(count - 3), begin, letters: read(count - 1) };
    },
    drop() {
      count -= WIDTH;
      length = count > 0 ? read(count - 4) + read(count - 1) : 0;
    },
    toPlace: ({ from, to }) => ({
      from: locate(from).from,
      to: to > from ? locate(to - 1).to : locate(to).from,
    }),
  };
}

const WIDTH = 4;
