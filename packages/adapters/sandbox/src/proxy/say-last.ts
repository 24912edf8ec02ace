/** Say last: sends a client its last bytes and releases it. */
import type { Duplex } from "node:stream";

const patienceMs = 1_000;

/**
 * Briefly reads and drops the client's remaining bytes: closing with unread bytes resets, and a reset can
 * lose the answer.
 */
export function sayLast(client: Duplex, bytes: string | Uint8Array): void {
  if (!client.writable) return void client.destroy();
  const gone = (): void => void client.destroy();
  const timer = setTimeout(gone, patienceMs);
  client.once("end", gone).once("close", () => clearTimeout(timer));
  client.end(bytes);
  client.resume();
}
