/** What a person reads of a cost of which a part is unknown. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { noUsage } from "@lathe/protocol";
import { paletteFor } from "../render/palette.ts";
import { costText } from "./cost-text.ts";

it("what is unknown is not told as free", () => {
  const nothing = { tokens: 0, cost: 0 };
  const child = { id: "child", tokens: 500, cost: 0, costUnknown: true };
  const text = costText(
    {
      ...{
        id: "s",
        title: "t",
        cwd: "/",
        steps: [],
        models: [],
        places: [],
        misses: [],
        switches: [],
        summaries: [],
      },
      total: { usage: noUsage, cost: 0, unpriced: 0 },
      failed: { attempts: 1, codes: { stalled: 1 }, ms: 5, charged: { tokens: 900, cost: 0 }, unpriced: 1 },
      reserved: nothing,
      used: nothing,
      tree: { root: "s", cap: {}, tokens: 500, cost: 0, costUnknown: true, sessions: [child], open: 0 },
    },
    { paint: paletteFor({}, { NO_COLOR: "1" }), width: 80 },
  );
  assert.match(text, /900 tokens held, price unknown/);
  assert.match(text, /child +500 tokens +\?/);
});
