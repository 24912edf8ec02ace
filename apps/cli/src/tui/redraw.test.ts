/** What it costs to show an answer as it streams: processor time, and bytes for the terminal. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { LiveArea } from "./live-area.ts";
import { themeOf } from "./theme.ts";
import { Transcript } from "./transcript.ts";

const paragraph =
  "The function **adds** two numbers, as `add.js` says, and it does so for whatever it is given, which is more than one would think. ";
const answer = [
  "# A long answer",
  paragraph.repeat(4),
  "- one thing\n- another thing, with `code`\n- and a third",
  `\`\`\`js\n${"const value = compute(1, 2, 3);\n".repeat(30)}\`\`\``,
  paragraph.repeat(6),
  "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
  "",
].join("\n\n");

/** As models count: about four characters each. */
const tokens = answer.repeat(8).match(/[\s\S]{1,4}/g) ?? [];
/** A frame every 50 ms at 100 tokens a second. */
const tokensPerFrame = 5;

function showAll(): { readonly ms: number; readonly bytes: number } {
  let bytes = 0;
  const out = { columns: 100, rows: 40, write: (text: string) => (bytes += text.length) };
  const area = new LiveArea(out);
  const transcript = new Transcript(themeOf("dark"), () => area.width);
  const below = ["─".repeat(100), " ", "─".repeat(100), "model · auto"];
  const started = process.cpuUsage();
  for (const [at, text] of tokens.entries()) {
    transcript.delta({ type: "text", text });
    if (at % tokensPerFrame > 0) continue;
    area.update(transcript.take(), { lines: [...transcript.live(30), ...below] });
  }
  const { user, system } = process.cpuUsage(started);
  return { ms: (user + system) / 1000, bytes };
}

it("redraws 100 streamed tokens in 5 ms of processor time", (test) => {
  showAll();
  const runs = [showAll(), showAll(), showAll()];
  const per100 = Math.min(...runs.map(({ ms }) => ms)) / (tokens.length / 100);
  const bytes = (runs[0]?.bytes ?? 0) / (tokens.length / 100);
  test.diagnostic(`${per100.toFixed(2)} ms and ${Math.round(bytes)} characters for 100 tokens`);
  assert.ok(tokens.length > 4000);
  assert.ok(per100 < 5, `${per100} ms for 100 tokens`);
});
