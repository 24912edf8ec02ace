/** The files that a ranked query covers. */
import { isBelow, type RankQuery } from "@lathe/protocol";
import type { FileFilter } from "./file-filter.ts";
import type { Place } from "./place.ts";

export interface RankRequest {
  readonly place: Place;
  readonly fileFilter: FileFilter;
  readonly query: RankQuery;
}

export function wantedBy({ place, fileFilter }: RankRequest): (path: string) => boolean {
  return (path) => isBelow(path, place.path) && fileFilter.wanted(path) && !fileFilter.excluded(path);
}
