/** May remember: whether any facts are kept, without loading what reads them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { configFolder } from "@lathe/system";
import type { ExtensionPlace } from "../files/extension-place.ts";

export function mayRemember({ env }: Pick<ExtensionPlace, "env">): boolean {
  const folder = configFolder(env);
  return existsSync(join(folder, "memory.md")) || existsSync(join(folder, "projects"));
}
