/** Words beside marks: where they touch nothing, or not at all. */

export interface Box {
  left: number;
  top: number;
  right: number;
  foot: number;
}

export interface Wish {
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

/** For each wish, in order of importance, a place inside the room beside its mark; null where all are taken. */
export function placed(wishes: Wish[], room: Box, taken: Box[]): (Spot | null)[] {
  const boxes = [...taken];
  return wishes.map(({ x, y, width }) => {
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

/** The room of a mark. */
export function around(x: number, y: number, size: number): Box {
  return { left: x - size, top: y - size, right: x + size, foot: y + size };
}

function boxOf({ x, y, anchor }: Spot, width: number): Box {
  const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2;
  return { left, top: y - HIGH + 3, right: left + width, foot: y + 3 };
}

function isInside(box: Box, room: Box): boolean {
  return box.left >= room.left && box.right <= room.right && box.top >= room.top && box.foot <= room.foot;
}

function touches(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.foot && b.top < a.foot;
}
