/** Relay: carries bytes both ways between two streams until both directions have ended, one fails, or nothing moves. */
import { type Duplex, pipeline } from "node:stream";

/** Half-open connections stay so: the end of one direction is passed on, and the other goes on. */
export function relay(client: Duplex, upstream: Duplex, idleMs: number): void {
  const destroy = (): void => {
    client.destroy();
    upstream.destroy();
  };
  const timer = setTimeout(destroy, idleMs);
  const moved = (): void => void timer.refresh();
  let directions = 2;
  const ended = (error: unknown): void => {
    directions -= 1;
    if (error) destroy();
    if (directions === 0) clearTimeout(timer);
  };
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on("data", moved);
    pipeline(from, to, ended);
  }
}
