/** Naming a session: at once where nobody runs it, else through whoever does. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { processOwner } from "@lathe/stores";
import { explained } from "../explained.ts";
import { systemClock } from "../machine/system-clock.ts";
import { openState } from "./state.ts";

const longestName = 120;

/** *Contract:* `name` is one line; a session that runs takes it within a moment. */
export async function nameSession(
  env: Readonly<Record<string, string | undefined>>,
  id: string,
  name: string,
): Promise<Failure | undefined> {
  const line = name.replace(/\s+/g, " ").trim();
  if (line === "" || line.length > longestName) {
    const text = `a name is one line of 1 to ${longestName} characters`;
    return failure("invalid-arguments", text, { who: "user" });
  }
  const { store, inbox } = openState(env);
  const at = systemClock.now();
  const log = await store.claim(id, { owner: processOwner(), at });
  if (isFailure(log) && log.code === "session-owned") return inbox.offer(id, { type: "name", name: line });
  if (isFailure(log)) return explained(log, env);
  try {
    const named = await log.append([{ type: "session.named", data: { name: line } }], { at, durable: true });
    return isFailure(named) ? explained(named, env) : undefined;
  } finally {
    await log.close();
  }
}
