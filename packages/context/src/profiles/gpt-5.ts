/** GPT-5 and later: write a patch as it is, without JSON, and count their reasoning as output. */
import { gpt4 } from "./gpt-4.ts";
import type { Profile } from "./profile.ts";

export const gpt5: Profile = { ...gpt4, since: [5, 0], freeform: true, maxOutput: 64_000 };
