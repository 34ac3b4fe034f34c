/** Places labels next to marks without overlaps. */

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface LabelRequest {
  x: number;
  y: number;
  width: number;
}

export interface Spot {
  x: number;
  y: number;
  anchor: 'start' | 'end' | 'middle';
}

const HIGH = 14;

/** A position next to the mark for each label, in order of priority; null if none is free. */
export function placeLabels(requests: LabelRequest[], room: Box, taken: Box[]): (Spot | null)[] {
  const boxes = [...taken];
  return requests.map(({ x, y, width }) => {
    const choices: Spot[] = [
      { x: x + 9, y: y + 4, anchor: 'start' },
      { x: x - 9, y: y + 4, anchor: 'end' },
      { x, y: y - 11, anchor: 'middle' },
      { x, y: y + 19, anchor: 'middle' },
      { x: x + 6, y: y - 11, anchor: 'start' },
      { x: x - 6, y: y - 11, anchor: 'end' },
      { x: x + 6, y: y + 19, anchor: 'start' },
      { x: x - 6, y: y + 19, anchor: 'end' },
    ];
    for (const choice of choices) {
      const box = boxOf(choice, width);
      if (!isInside(box, room) || boxes.some((other) => touches(box, other))) continue;
      boxes.push(box);
      return choice;
    }
    return null;
  });
}

/** The bounding box of a mark. */
export function boxAround(x: number, y: number, size: number): Box {
  return { left: x - size, top: y - size, right: x + size, bottom: y + size };
}

function boxOf({ x, y, anchor }: Spot, width: number): Box {
  const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2;
  return { left, top: y - HIGH + 3, right: left + width, bottom: y + 3 };
}

function isInside(box: Box, room: Box): boolean {
  return box.left >= room.left && box.right <= room.right && box.top >= room.top && box.bottom <= room.bottom;
}

function touches(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
