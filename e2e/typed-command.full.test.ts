/** A command that the person typed is theirs to wait for: it is not left in the background as the agent's are. */
import { it } from "node:test";
import { startWireServer } from "@lathe/testkit";
import { say } from "./answer-parts.ts";
import { makePlace, wireEnv } from "./lathe.ts";
import { noTmux, openTmux } from "./tmux.ts";

it("a typed command is shown to its end, however long it takes", { skip: noTmux() }, async (t) => {
  const place = makePlace();
  const server = await startWireServer(() => ({ parts: [say("Well.")] }));
  const size = { columns: 100, rows: 40 };
  const terminal = await openTmux(place, ["--no-sandbox"], { size, env: wireEnv(server.url) });
  t.after(async () => {
    await terminal.close();
    await server.close();
    place.remove();
  });
  await terminal.until(/claude-sonnet-5-5 · \w+/);
  await terminal.type("!sleep 11; echo at last");
  await terminal.press("Enter");
  await terminal.until(/! +sleep 11; echo at last +1[12]\S* s\s+at last/);
});
