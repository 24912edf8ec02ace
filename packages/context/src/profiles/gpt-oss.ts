/** gpt-oss: OpenAI's open weights, trained on the same patches, run on machines of one's own. */
import { gpt4 } from "./gpt-4.ts";
import type { Profile } from "./profile.ts";

export const gptOss: Profile = {
  ...gpt4,
  family: "gpt-oss",
  stall: { firstMs: 600_000 },
  maxOutput: 16_000,
  windowShare: 0.7,
  images: false,
};
