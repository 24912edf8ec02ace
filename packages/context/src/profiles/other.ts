/** Models of no known family. */
import { principles } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const other: Profile = {
  family: "other",
  since: [0, 0],
  edits: "str-replace",
  manner: principles,
  maxOutput: 32_000,
  windowShare: 0.75,
  foreignReasoning: "drop",
  images: false,
};
