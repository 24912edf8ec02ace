/**
 * `scripts/test.mjs` loads this before the tests. Node's test runner follows every promise to attribute
 * uncaught errors to a test, which took two thirds of the time of stream tests. Without that, such an error
 * still fails its file but does not name the test; `node --test FILE` does.
 */
import { createRequire } from "node:module";

const hooks = createRequire(import.meta.url)("node:async_hooks");
const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ trackPromises: false, ...callbacks });
