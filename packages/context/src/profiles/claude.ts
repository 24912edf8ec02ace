/** Claude: tolerates loose instructions, edits by replacing text. */
import { principles } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const claude: Profile = {
  family: "claude",
  since: [0, 0],
  edits: "str-replace",
  manner: principles,
  maxOutput: 32_000,
  windowShare: 0.8,
  foreignReasoning: "drop",
  images: true,
};
