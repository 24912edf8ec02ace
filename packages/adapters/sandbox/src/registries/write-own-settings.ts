/**
 * Write own settings: writes the user's registries into the commands' home, where package managers look for
 * them.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OwnSettings } from "./own-registries.ts";

/** *Contract:* the scratch folder is new: no command can have put a link there. */
export function writeOwnSettings(scratch: string, { files }: Pick<OwnSettings, "files">): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(scratch, "home", path);
    // A sandbox that failed to open may be opened again.
    if (existsSync(file)) continue;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  }
}
