/** An unnamed file for a launcher's reports: it needs no pump, and no command can reach it. */
import { closeSync, mkdirSync, openSync, readSync, unlinkSync } from "node:fs";
import { join } from "node:path";

const maxBytes = 4096;
let made = 0;

export class StatusFile {
  readonly fd: number;
  #text: string | undefined;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `status-${process.pid}-${++made}`);
    this.fd = openSync(path, "wx+", 0o600);
    unlinkSync(path);
  }

  /** The report so far; after `close`, the report up to then. */
  text(): string {
    if (this.#text !== undefined) return this.#text;
    const bytes = Buffer.alloc(maxBytes);
    return bytes.toString("utf8", 0, readSync(this.fd, bytes, 0, maxBytes, 0));
  }

  close(): void {
    if (this.#text !== undefined) return;
    this.#text = this.text();
    closeSync(this.fd);
  }
}
