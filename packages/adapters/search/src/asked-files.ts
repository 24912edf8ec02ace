/** Which files a ranked query is about. */
import type { RankQuery } from "@lathe/protocol";
import type { Place } from "./place.ts";
import type { Sieve } from "./sieve.ts";

export interface Asked {
  readonly place: Place;
  readonly sieve: Sieve;
  readonly query: RankQuery;
}

export function isBelow(place: Place, path: string): boolean {
  return place.path === "" || path === place.path || path.startsWith(`${place.path}/`);
}

export function wantedBy({ place, sieve }: Asked): (path: string) => boolean {
  return (path) => isBelow(place, path) && sieve.wanted(path) && !sieve.excluded(path);
}
