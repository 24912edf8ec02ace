/** Tests the live area on a simulated terminal: the screen always matches what was drawn and printed. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { LiveArea } from "./live-area.ts";

/** Simulates the parts of a terminal that the area uses; nothing scrolls out of it. */
class Grid {
  readonly columns = 30;
  readonly rows = 200;
  readonly lines: string[] = [""];
  row = 0;
  column = 0;
  #saved: readonly [number, number] = [0, 0];

  write(text: string): void {
    const parts = text.replaceAll("\u001b", "␛").match(/␛\[\??\d*[a-zA-Z]|␛[78]|\r|\n|[^␛\r\n]+/gu) ?? [];
    for (const part of parts) this.#obey(part);
  }

  #obey(part: string): void {
    const [, count = "", name = ""] = /^␛\[(\d*)([A-Za-z])$/u.exec(part) ?? [];
    const by = Number(count || 1);
    if (part === "\r") this.column = 0;
    else if (part === "\n") this.#to(this.row + 1);
    else if (part === "␛7") this.#saved = [this.row, this.column];
    else if (part === "␛8") [this.row, this.column] = this.#saved;
    else if (name === "A") this.#to(this.row - by);
    else if (name === "B") this.#to(this.row + by);
    else if (name === "C") this.column += by;
    else if (name === "J") this.#clear(true);
    else if (name === "K") this.#clear(false, count === "2");
    else if (!part.startsWith("␛")) this.#put(part);
  }

  #to(row: number): void {
    assert.ok(row >= 0, "above the top");
    while (this.lines.length <= row) this.lines.push("");
    this.row = row;
  }

  #clear(below: boolean, whole = false): void {
    this.lines[this.row] = whole ? "" : (this.lines[this.row] ?? "").slice(0, this.column);
    if (below) this.lines.length = this.row + 1;
  }

  #put(text: string): void {
    const line = (this.lines[this.row] ?? "").padEnd(this.column);
    this.lines[this.row] = line.slice(0, this.column) + text + line.slice(this.column + text.length);
    this.column += text.length;
  }

  get text(): string {
    return this.lines
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  }
}

const line = fc.string({ unit: fc.constantFrom("a", "b", " "), maxLength: 29 });
const lines = fc.array(line, { maxLength: 5 });

it("shows printed lines, and the last frame below them", () => {
  const frames = fc.array(fc.record({ printed: lines, live: lines, at: fc.nat(4) }), { maxLength: 12 });
  fc.assert(
    fc.property(frames, (all) => {
      const grid = new Grid();
      const area = new LiveArea(grid);
      const printed: string[] = [];
      for (const frame of all) {
        const row = Math.min(frame.at, Math.max(0, frame.live.length - 1));
        area.update(frame.printed, { lines: frame.live, cursor: { row, column: 0 } });
        printed.push(...frame.printed);
        const wanted = [...printed, ...frame.live].map((one) => one.trimEnd()).join("\n");
        assert.equal(grid.text, wanted.trimEnd());
      }
      area.clear();
      assert.equal(
        grid.text,
        printed
          .map((one) => one.trimEnd())
          .join("\n")
          .trimEnd(),
      );
    }),
  );
});

it("writes only the lines that changed, and nothing if none did", () => {
  const written: string[] = [];
  const area = new LiveArea({ columns: 30, rows: 24, write: (text) => written.push(text) });
  area.update([], { lines: ["one", "two", "three"] });
  written.length = 0;
  area.update([], { lines: ["one", "two", "three"] });
  assert.deepEqual(written, []);
  area.update([], { lines: ["one", "TWO", "three"] });
  assert.equal(written.length, 1);
  assert.match(written[0] ?? "", /TWO/);
  assert.doesNotMatch(written[0] ?? "", /one|three/);
});

it("draws over earlier content, and never draws more lines than the terminal has", () => {
  const grid = new Grid();
  grid.write("old\r\nframe");
  const area = new LiveArea(grid, ["old", "frame"]);
  area.update([], { lines: ["new"] });
  assert.equal(grid.text, "new");
  const small: string[] = [];
  const low = new LiveArea({ columns: 30, rows: 8, write: (text) => small.push(text) });
  low.update([], { lines: Array.from({ length: 50 }, (_, at) => `line ${at}`) });
  assert.equal(small.join("").match(/line \d+/g)?.length, 7);
  assert.match(small.join(""), /line 49/);
});
