/** `/best-of` in a conversation, in a wide terminal. */
import { describe, it } from "node:test";
import { takesOver } from "./attempts-chat.ts";
import { noTmux } from "./tmux.ts";

describe("/best-of", { skip: noTmux() }, () => {
  it("compares, asks, takes over, goes on, shows and takes back, at 200x50", (t) =>
    takesOver(t, { columns: 200, rows: 50 }));
});
