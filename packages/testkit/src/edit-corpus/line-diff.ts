/** Finds changed line ranges between two texts, by Myers' greedy algorithm. */

export interface LineChange {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

const maxDistance = 600;

/** Undefined if the texts differ more than a reviewer would read. */
export function diffLines(a: readonly string[], b: readonly string[]): LineChange[] | undefined {
  const traces = shortestTraces(a, b);
  if (traces === undefined) return undefined;
  const kept = keptPairs(traces, a.length, b.length);
  const changes: LineChange[] = [];
  let [x, y] = [0, 0];
  for (const [oldIndex, newIndex] of [...kept, [a.length, b.length] as const]) {
    if (oldIndex > x || newIndex > y) {
      changes.push({ oldStart: x, oldEnd: oldIndex, newStart: y, newEnd: newIndex });
    }
    [x, y] = [oldIndex + 1, newIndex + 1];
  }
  return changes;
}

function shortestTraces(a: readonly string[], b: readonly string[]): Map<number, number>[] | undefined {
  const traces: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let distance = 0; distance <= maxDistance; distance++) {
    traces.push(reach);
    const next = new Map(reach);
    for (let k = -distance; k <= distance; k += 2) {
      let x = stepX(reach, k, distance);
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return traces;
    }
    reach = next;
  }
  return undefined;
}

function stepX(reach: ReadonlyMap<number, number>, k: number, distance: number): number {
  return stepsDown(reach, k, distance) ? (reach.get(k + 1) ?? -1) : (reach.get(k - 1) ?? -1) + 1;
}

function stepsDown(reach: ReadonlyMap<number, number>, k: number, distance: number): boolean {
  return k === -distance || (k !== distance && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
}

/** Pairs of indexes of the lines that both texts share, walked back from the end. */
function keptPairs(
  traces: readonly ReadonlyMap<number, number>[],
  oldLength: number,
  newLength: number,
): (readonly [number, number])[] {
  const kept: (readonly [number, number])[] = [];
  let [x, y] = [oldLength, newLength];
  for (let distance = traces.length - 1; distance >= 0; distance--) {
    const reach = traces[distance] as ReadonlyMap<number, number>;
    const k = x - y;
    const start = stepX(reach, k, distance);
    while (x > start) {
      x--;
      y--;
      kept.push([x, y]);
    }
    [x, y] = stepsDown(reach, k, distance) ? [start, start - k - 1] : [start - 1, start - k];
  }
  return kept.reverse();
}
