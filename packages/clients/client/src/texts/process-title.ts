/** The one-line title of a background command. */
import type { OpenSession } from "@lathe/sessions";
import { fit, harmless } from "@lathe/terminal";

export type BackgroundProcess = ReturnType<OpenSession["processes"]>[number];

const maxColumns = 60;

export function titleOf({ id, script }: Pick<BackgroundProcess, "id" | "script">): string {
  return fit(harmless(`${id} ${script.split("\n", 1)[0] ?? ""}`), maxColumns);
}
