/** May need trust: whether a project brings anything that would run, without loading what reads it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { mayHaveProjectHooks } from "@lathe/extensions";

export function mayNeedTrust(cwd: string): boolean {
  return mayHaveProjectHooks(cwd) || existsSync(join(cwd, ".mcp.json"));
}
