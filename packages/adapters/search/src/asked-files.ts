/** Which files a ranked query is about. */
import { isBelow, type RankQuery } from "@lathe/protocol";
import type { Place } from "./place.ts";
import type { Sieve } from "./sieve.ts";

export interface Asked {
  readonly place: Place;
  readonly sieve: Sieve;
  readonly query: RankQuery;
}

export function wantedBy({ place, sieve }: Asked): (path: string) => boolean {
  return (path) => isBelow(path, place.path) && sieve.wanted(path) && !sieve.excluded(path);
}
