import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Heading, headings, sectionsOf } from "./sections.ts";

const texts = headings.map((heading, at) => [heading, `- words of ${at}`] as const);
const written = (
  mark: (heading: Heading, at: number) => string,
  words: Partial<Record<Heading, string>> = {},
): string =>
  texts.map(([heading, text], at) => `${mark(heading, at)}\n${words[heading] ?? text}`).join("\n\n");
const plain = (heading: Heading): string => `## ${heading}`;

describe("the sections of a summary", () => {
  it("are found in any style of headings", () => {
    const ways: ((heading: Heading, at: number) => string)[] = [
      plain,
      (heading) => `# ${heading}`,
      (heading, at) => `## ${at + 1}. ${heading}`,
      (heading, at) => `### ${at + 1}) ${heading}:`,
      (heading) => `## **${heading}**`,
      (heading, at) => `## **${at + 1}. ${heading}:**`,
      (heading) => `## ${heading.toUpperCase()} ##`,
      (heading) => `## ${heading}s`,
      (heading, at) => `${at === 0 ? "#" : "##"} ${heading}`,
    ];
    for (const way of ways) assert.deepEqual([...sectionsOf(written(way))], texts, way("Decisions", 1));
    assert.deepEqual([...sectionsOf(written(plain).replaceAll("\n", "\r\n"))], texts);
    assert.deepEqual([...sectionsOf(`\`\`\`markdown\n${written(plain)}\n\`\`\``)], texts, "all in a fence");
    assert.equal(sectionsOf("## Open failures: none\n## Next step (now)").get("Open failures"), "none");
  });

  it("keep their own headings, and text that only looks like one", () => {
    const words = {
      "Open failures":
        "### tests/a.test.ts\nexpected 1, got 2\n# Decisions of others\n### tests/b.test.ts\ntimes out",
      "State of the work": "### Decisions\nthe parser is done\n#### Next step\nits tests",
      "Next step":
        "```sh\n# Decisions\n## Files touched\nnpm test\n```\nand then\n~~~\n```\n# Next step\n~~~",
    };
    const sections = sectionsOf(written(plain, words));
    for (const [heading, text] of texts) {
      assert.equal(sections.get(heading), (words as Partial<Record<Heading, string>>)[heading] ?? text);
    }
  });

  it("are missing if there are only other headings, or if they are empty", () => {
    const words = { "Open failures": "### tests/a.test.ts\n### tests/b.test.ts", Decisions: " " };
    const sections = sectionsOf(written(plain, words));
    assert.equal(sections.get("Open failures"), words["Open failures"]);
    assert.equal(sections.has("Decisions"), false);
    assert.deepEqual([...sectionsOf("## Decisions-making\nx\n## Files\ny")], []);
  });

  it("are found after a fence that is never closed", () => {
    const sections = sectionsOf(written(plain, { Decisions: "```sh\nnpm test" }));
    assert.equal(sections.get("Next step"), "- words of 5");
  });
});
