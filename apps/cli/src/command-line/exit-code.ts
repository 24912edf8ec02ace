/** Exit codes: 0 done, 1 failed, 2 usage or an unknown model, 3 stopped by a limit, a permission or a loop, 130 interrupted. */
import type { Failure, TurnEnd } from "@lathe/protocol";

export function exitCodeOfEnd(end: TurnEnd): number {
  switch (end.type) {
    case "done":
      return 0;
    case "failed":
      return exitCodeOfFailure(end.failure);
    case "limit":
    case "permission":
    case "loop":
      return 3;
    case "cancelled":
      return 130;
  }
}

export function exitCodeOfFailure(failure: Failure): number {
  if (failure.code === "cancelled") return 130;
  if (failure.code === "no-person") return 3;
  const usage = ["invalid-arguments", "config-invalid", "session-unknown", "model-unknown"].includes(
    failure.code,
  );
  return usage && failure.who !== "model" ? 2 : 1;
}
