/** Checks whether a project defines extensions that would run, without loading the code that reads them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { mayHaveProjectHooks } from "@lathe/extensions";

export function mayNeedTrust(cwd: string): boolean {
  return mayHaveProjectHooks(cwd) || existsSync(join(cwd, ".mcp.json"));
}
