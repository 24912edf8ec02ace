/** The remark, before commands run, about a sandbox that confines less than a full one. */
import type { Containment } from "@lathe/sessions";

/** One sentence; undefined if nothing is missing. Without a sandbox, each command's question says so. */
export function tierRemark({ driver, reasons }: Containment): string | undefined {
  if (driver.tier !== "reduced") return undefined;
  const why = reasons.length > 0 ? `: ${reasons.join(" ")}` : ".";
  const held = `commands run in a reduced sandbox (${driver.name})`;
  return `${held}${why} \`lathe sandbox verify\` says what it does not hold.`;
}
