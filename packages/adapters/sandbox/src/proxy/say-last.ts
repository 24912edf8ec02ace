/** Say last: gives a client its last bytes and lets go of it. */
import type { Duplex } from "node:stream";

const patienceMs = 1_000;

/** What the client still sends is read away for a moment: closing on unread bytes resets, and a reset can eat the answer. */
export function sayLast(client: Duplex, bytes: string | Uint8Array): void {
  if (!client.writable) return void client.destroy();
  const gone = (): void => void client.destroy();
  const timer = setTimeout(gone, patienceMs);
  client.once("end", gone).once("close", () => clearTimeout(timer));
  client.end(bytes);
  client.resume();
}
