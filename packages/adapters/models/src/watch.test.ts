/** The watchdog: distinguishes silence from a delay of this process. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createWatch } from "./watch.ts";

const { signal } = new AbortController();

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe("the watchdog", () => {
  it("ends a wait in which nothing happens", async () => {
    const watch = createWatch(signal);
    watch.limit(30);
    assert.deepEqual((await watch.until(new Promise(() => undefined))).stopped, { type: "stall", ms: 30 });
    watch.end();
  });

  it("does not count time in which this process was too busy to listen", async () => {
    const watch = createWatch(signal);
    watch.limit(50);
    const waited = watch.until(new Promise((resolve) => setTimeout(resolve, 60, "here")));
    block(200);
    assert.equal((await waited).value, "here");
    watch.end();
  });

  it("still ends if silence follows", async () => {
    const watch = createWatch(signal);
    watch.limit(30);
    const waited = watch.until(new Promise(() => undefined));
    block(100);
    assert.equal((await waited).stopped?.type, "stall");
    watch.end();
  });
});
