/** Claude 5 and later: does more by itself than was asked, unless it is told where the task ends. */
import { claude } from "./claude.ts";
import type { Profile } from "./profile.ts";

export const claude5: Profile = {
  ...claude,
  since: [5, 0],
  manner: `${claude.manner}
- The task ends where the user's words end: no clean-up, no compatibility layer, no document that nobody asked for.`,
};
