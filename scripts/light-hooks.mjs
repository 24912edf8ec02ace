/**
 * `scripts/test.mjs` loads this before the tests. Node's test runner follows every promise, to tell which test an
 * uncaught error belongs to, and tests of streams spent two thirds of their time on that. Without it such an error
 * still fails its file, but does not name the test; `node --test FILE` does.
 */
import { createRequire } from "node:module";

const hooks = createRequire(import.meta.url)("node:async_hooks");
const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ trackPromises: false, ...callbacks });
