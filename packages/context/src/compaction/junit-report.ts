/** The XML that JUnit's runners write, and many others since: node:test, pytest, Maven, Gradle, gotestsum. */
import type { Reported } from "./report.ts";

/** An attribute holds no `<`, so that no tag is looked for beyond the next one. */
const attributes = String.raw`((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)`;
const tags = new RegExp(
  String.raw`<(testcase|failure|error|/testcase|/failure|/error)\b${attributes}\s*(/?)>`,
  "g",
);
const begin = /<(?:testsuites?)\b/;

interface Failed {
  readonly name: string;
  /** What is said of it in its tag, and in between. */
  readonly error: string;
  readonly words: string;
}

export function junitReport(text: string): Reported | undefined {
  const from = text.search(begin);
  if (from < 0 || !text.includes("<testcase", from)) return undefined;
  const to = text.lastIndexOf("</testsuite");
  const close = to < 0 ? -1 : text.indexOf(">", to);
  const xml = text.slice(from, close < 0 ? text.length : close + 1);
  const { count, failed } = casesIn(xml);
  const failing = failed.map(({ name }) => name);
  const report = {
    runner: "JUnit XML",
    failing,
    errors: failed.map(({ error }) => error).filter((error) => error !== ""),
    counts: [`${count} tests, ${new Set(failing).size} failing`],
    words: failed.flatMap(({ words }) => words.split(/\r?\n/)),
  };
  return { report, rest: `${text.slice(0, from)}\n${text.slice(from + xml.length)}` };
}

/** Also of one that was cut. */
function casesIn(xml: string): { readonly count: number; readonly failed: readonly Failed[] } {
  const failed: Failed[] = [];
  let [count, name] = [0, ""];
  let open: { readonly error: string; readonly from: number } | undefined;
  for (const { 0: tag, 1: kind, 2: given = "", 3: isAlone, index } of xml.matchAll(tags)) {
    if (kind === "testcase") {
      count++;
      name = nameOf(given);
    } else if (kind === "failure" || kind === "error") {
      open = { error: errorOf(given), from: index + tag.length };
      if (isAlone !== "") failed.push({ name, error: open.error, words: "" });
    } else if (open && kind !== "/testcase") {
      failed.push({ name, error: open.error, words: unescaped(xml.slice(open.from, index)) });
      open = undefined;
    }
  }
  return { count, failed };
}

function nameOf(given: string): string {
  const [owner, name] = [attributeOf(given, "classname"), attributeOf(given, "name")];
  // node:test says that it is a test.
  return owner === "" || owner === "test" ? name : `${owner} > ${name}`;
}

/** With its type, where that says more than that it failed. */
function errorOf(given: string): string {
  const [message = ""] = attributeOf(given, "message")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const type = attributeOf(given, "type");
  const isTold = !/[.:]|(?:Error|Exception)$/.test(type) || message.includes(type.split(".").at(-1) ?? type);
  return isTold ? message.trim() : [type, message.trim()].filter(Boolean).join(": ");
}

function attributeOf(given: string, name: string): string {
  const found = new RegExp(String.raw`(?:^|\s)${name}\s*=\s*(?:"([^"]*)"|'([^']*)')`).exec(given);
  return unescaped(found?.[1] ?? found?.[2] ?? "");
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text
    .replaceAll(/<!\[CDATA\[|\]\]>/g, "")
    .replaceAll(/&(#\d{1,7}|#x[\da-fA-F]{1,6}|\w{2,4});/g, (whole, name: string) => {
      if (!name.startsWith("#")) return entities[name] ?? whole;
      const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    });
}
