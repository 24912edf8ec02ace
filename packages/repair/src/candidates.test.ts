/** Candidates of real-looking sources: inside the text, never the text itself, best first, and exact as edits. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Language } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { applied, type Candidate, candidatesOf } from "./candidates.ts";
import { grammars } from "./grammars.test.ts";
import { toRepair } from "./search-repair.ts";

/** Pieces that parse in any order; each has its traps: other scripts, blank lines, comments, odd ends. */
const PIECES = {
  python: [
    'def greet(name="Wörld 👩‍💻"):\n    """Says hello."""\n    return f"Hello, {name}!"  # größer\n',
    "class Stack:\n    limit = 10\n\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n        if len(self.items) < self.limit:\n            self.items.append(item)\n\n    def pop(self):\n        return self.items.pop(0)\n",
    "def primes(n):\n    found = []\n    for i in range(2, n):\n        for j in range(2, i):\n            if i % j == 0:\n                break\n        else:\n            found.append(i)\n    return found\n",
    "async def load(client, urls, *, retries=3):\n\tout = {}\n\tfor url in urls:\n\t\ttry:\n\t\t\tout[url] = client.get(url)\n\t\texcept ValueError as error:\n\t\t\tprint(error)\n\treturn {key: value for key, value in out.items() if value}\n",
    "import re\nWORD = re.compile(r'[a-z]+')\nTOTAL = sum(len(w) for w in WORD.findall('''a\nb'''))\nx, y = 1, 2\n",
    "def bisect(xs, x):\n    lo, hi = 0, len(xs)\n    while lo < hi:\n        mid = (lo + hi) // 2\n        if xs[mid] < x: lo = mid\n        else: hi = mid\n    return -1 if lo == len(xs) else lo\n",
  ],
  javascript: [
    `export function greet(name = "Wörld 👩‍💻") {\n  // größer\n  return \`Hello, \${name}!\`;\n}\n`,
    "class Cart {\n  #items = [];\n  total = 0;\n  add(item, count = 1) {\n    if (!item) throw new Error('no item');\n    this.total += item.price * count;\n    this.#items.push({ ...item, count });\n    return this;\n  }\n}\n",
    "async function load(urls) {\n  const out = new Map();\n  for (const url of urls) {\n    if (out.has(url)) continue;\n    const reply = await fetch(url);\n    out.set(url, reply?.json() ?? null);\n  }\n  return out;\n}\n",
    "const clamp = (x, lo, hi) => (x < lo ? lo : x > hi ? hi : x);\nlet last = -1, first = xs => xs[0]\n",
    "function parse(line) {\r\n  const [key, value] = line.split(/\\s*=\\s*/);\r\n  switch (key) {\r\n    case 'a':\r\n      return value;\r\n    default:\r\n      return undefined;\r\n  }\r\n}\r\n",
    "function* walk(tree) {\n  if (!tree) return;\n  yield* walk(tree.left);\n  yield tree.value;\n  do tree = tree.next; while (tree && tree.skip);\n}\n",
  ],
  typescript: [
    "export interface Point {\n  readonly x: number;\n  readonly y?: 1 | 2;\n}\n",
    "export function length(p: Point): number {\n  return Math.sqrt(p.x ** 2 + (p.y ?? 0) ** 2);\n}\n",
    "const seen = new Map<string, readonly number[]>();\nexport const add = <T extends string>(key: T, ...ns: number[]): void => {\n  seen.set(key, [...(seen.get(key) ?? []), ...ns]);\n};\n",
    `enum Side { Left = 1, Right }\nabstract class Shape<T = number> {\n  constructor(private readonly size: T, protected name = 'x') {}\n  abstract area(): number;\n  label(): string {\n    const text = \`\${this.name}:\${this.area()}\`;\n    return text as string;\n  }\n}\n`,
  ],
  tsx: [
    "export function List({ items }: { items: string[] }) {\n  if (items.length === 0) return null;\n  return <ul>{items.map((item, i) => <li key={i}>{item}</li>)}</ul>;\n}\n",
    'const Title = (props: { on: boolean }) => <b className="a">{props.on && "on"} — ü</b>;\n',
  ],
} as const satisfies Partial<Record<Language, readonly string[]>>;

const sources = fc
  .constantFrom<keyof typeof PIECES>("python", "javascript", "typescript", "tsx")
  .chain((language) =>
    fc.record({
      language: fc.constant(language),
      text: fc
        .array(fc.constantFrom<string>(...PIECES[language]), { minLength: 1, maxLength: 3 })
        .map((pieces) => pieces.join("\n")),
      weights: fc.array(fc.constantFrom(0, 0.3, 1, 1.4), { minLength: 8, maxLength: 40 }),
    }),
  );

type Source = typeof sources extends fc.Arbitrary<infer T> ? T : never;

async function all({ language, text, weights }: Source): Promise<readonly Candidate[]> {
  const lines = new Map(
    text.split("\n").map((_, index) => [index + 1, weights[index % weights.length] ?? 1] as const),
  );
  return candidatesOf({ path: "src/file", language, text, lines }, grammars);
}

function holds(check: (text: string, candidates: readonly Candidate[]) => void, numRuns = 15): Promise<void> {
  return fc.assert(
    fc.asyncProperty(sources, async (source) => check(source.text, await all(source))),
    { numRuns },
  );
}

describe("candidates", () => {
  it("are inside the text and change it", () =>
    holds((text, candidates) => {
      for (const candidate of candidates) {
        assert.ok(0 <= candidate.start && candidate.start <= candidate.end && candidate.end <= text.length);
        assert.notEqual(applied(text, candidate), text);
      }
    }));

  it("differ from each other, come best first, and describe their change", () =>
    holds((text, candidates) => {
      const texts = candidates.map((candidate) => applied(text, candidate));
      assert.equal(new Set(texts).size, texts.length);
      candidates.forEach((candidate, index) => {
        assert.ok(candidate.score > 0 && candidate.score <= (candidates[index - 1]?.score ?? Infinity));
        assert.notEqual(candidate.note.trim(), "");
        assert.equal(candidate.path, "src/file");
      });
    }));

  it("become edits: `old` occurs once, and the replacement is the candidate", () =>
    holds((text, candidates) => {
      for (const candidate of candidates) {
        const repair = toRepair(text, candidate);
        assert.equal(text.split(repair.old).length, 2, `not once: ${JSON.stringify(repair)}`);
        assert.equal(
          text.replace(repair.old, () => repair.new),
          applied(text, candidate),
        );
      }
    }));

  it("become edits that can be reverted in the same way", () =>
    holds((text, candidates) => {
      for (const candidate of candidates) {
        const repair = toRepair(text, candidate);
        const changed = applied(text, candidate);
        assert.equal(changed.split(repair.new).length, 2, `not once: ${JSON.stringify(repair)}`);
      }
    }));

  it("never splits the two characters that end a line", () => {
    const text = "def f(n):\r\n    return n - 1\r\n";
    const start = text.indexOf("-");
    const candidate = {
      path: "a.py",
      start,
      end: start + 1,
      text: "+",
      line: 2,
      template: "t",
      note: "n",
      score: 1,
    };
    const { old, new: fixed } = toRepair(text, candidate);
    assert.deepEqual([old, fixed], ["    return n - 1", "    return n + 1"]);
  });

  it("are described in one line, whatever they replace", () =>
    holds((text, candidates) => {
      for (const candidate of candidates) assert.doesNotMatch(toRepair(text, candidate).description, /\n/);
    }));

  it("stay out of lines that no test runs", async () => {
    const text = "def a(x):\n    return x + 1\n\n\ndef b(x):\n    return x - 1\n";
    const lines = new Map([[2, 1]]);
    const found = await candidatesOf({ path: "a.py", language: "python", text, lines }, grammars);
    assert.ok(found.length > 20);
    assert.deepEqual([...new Set(found.map(({ line }) => line))].sort(), [2]);
    assert.ok(found.every(({ end }) => end < text.indexOf("def b")));
  });

  it("prefer the more suspicious line", async () => {
    const text = "def a(x):\n    y = x < 1\n    z = x < 2\n    return y, z\n";
    const weigh = async (second: number, third: number): Promise<number | undefined> => {
      const lines = new Map([
        [2, second],
        [3, third],
      ]);
      return (await candidatesOf({ path: "a.py", language: "python", text, lines }, grammars))[0]?.line;
    };
    assert.equal(await weigh(1, 0.4), 2);
    assert.equal(await weigh(0.4, 1), 3);
  });

  it("are absent for a text that does not parse", async () => {
    const lines = new Map([[1, 1]]);
    const file = { path: "a.py", language: "python", text: "def (:\n", lines } as const;
    assert.deepEqual(await candidatesOf(file, grammars), []);
  });

  it("never end the process that runs the tests", async () => {
    const rows = [
      ["python", "import sys\ndef stop():\n    sys.exit(0)\ndef f(a):\n    b = a\n    return b\n"],
      [
        "python",
        "def stop(x):\n    if not x:\n        raise SystemExit\n    return x\ndef f(x):\n    return x\n",
      ],
      [
        "javascript",
        "function stop() {\n  process.exit(0);\n}\nfunction f(a) {\n  const b = a;\n  return b;\n}\n",
      ],
    ] as const;
    for (const [language, text] of rows) {
      const lines = new Map(text.split("\n").map((_, index) => [index + 1, 1]));
      const found = await candidatesOf({ path: "a", language, text, lines }, grammars);
      const ends = (source: string): number => source.match(/exit\(|SystemExit/g)?.length ?? 0;
      for (const candidate of found)
        assert.ok(ends(applied(text, candidate)) <= ends(text), `${candidate.template}: ${candidate.text}`);
    }
  });
});
