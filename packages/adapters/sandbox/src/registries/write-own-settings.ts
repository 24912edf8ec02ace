/** Write own settings: which registries the user has, in the home of commands, where package managers look for it. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OwnSettings } from "./own-registries.ts";

/** *Contract:* the scratch folder is new: nothing that ran has put a link there. */
export function writeOwnSettings(scratch: string, { files }: Pick<OwnSettings, "files">): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(scratch, "home", path);
    // A sandbox that did not open is opened again.
    if (existsSync(file)) continue;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  }
}
