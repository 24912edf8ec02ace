/** What is said, before commands run, of a sandbox that holds less than a full one. */
import type { Containment } from "@lathe/sessions";

/** One sentence; undefined where nothing is missing. Of no sandbox at all the question before each command tells. */
export function tierRemark({ driver, reasons }: Containment): string | undefined {
  if (driver.tier !== "reduced") return undefined;
  const why = reasons.length > 0 ? `: ${reasons.join(" ")}` : ".";
  const held = `commands run in a reduced sandbox (${driver.name})`;
  return `${held}${why} \`lathe sandbox verify\` says what it does not hold.`;
}
