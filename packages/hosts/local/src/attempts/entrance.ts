/** The command line that starts a program in a folder. */
import type { Entrance } from "@lathe/attempts";
import { type Failure, failure } from "@lathe/protocol";

export function entrance(
  program: readonly string[],
  place: Pick<Entrance, "cwd" | "env">,
): Entrance | Failure {
  const [file, ...args] = program;
  if (file === undefined) return failure("not-found", "there is no program to start");
  return { words: [file, ...args], ...place };
}
