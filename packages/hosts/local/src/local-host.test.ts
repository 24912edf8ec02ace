/** Runs the conformance tests of session hosts on this machine's host. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sessionsConformance } from "@lathe/sessions/conformance";
import { createScriptedModel } from "@lathe/testkit";
import { localHost } from "./local-host.ts";
import { makeBench } from "./session-bench.test.ts";

sessionsConformance("this machine", (answer) => {
  const { cwd, env, options, remove } = makeBench("local-host");
  mkdirSync(String(env.HOME));
  const { model } = createScriptedModel((request) => answer(request));
  const host = localHost(options("http://127.0.0.1:9", { ownModels: { "scripted/model": model } }));
  const read = (path: string): string | undefined => {
    try {
      return readFileSync(join(cwd, path), "utf8");
    } catch {
      return undefined;
    }
  };
  return {
    host,
    files: { read, write: (path, text) => writeFileSync(join(cwd, path), text) },
    close: remove,
  };
});
