/** IDs of new sessions: short, sorted by time, safe as file names. */
import type { Clock } from "@lathe/protocol";

/** For example `mi7x2k9a-4f7qzc`: the time and a random part, both in base 36. */
export function newSessionId(clock: Clock): string {
  const random = Math.floor(clock.random() * 36 ** 6);
  return `${clock.now().toString(36)}-${random.toString(36).padStart(6, "0")}`;
}
