/** The XML format of JUnit, also written by node:test, pytest, Maven, Gradle and gotestsum. */
import type { Reported } from "./report.ts";

/** An attribute holds no `<`, so that a match never extends beyond the next tag. */
const attributes = String.raw`((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*')){0,40})`;
const names = "testsuites?|testcase|failure|error";
const tags = new RegExp(String.raw`<(\?xml|(?:${names})|/(?:${names}))\b${attributes}\s*(/?)\??>`, "g");
const begin = /<testsuites?\b/g;
/** Maximum number of possible report beginnings to try, since source code may contain many. */
const maxTried = 6;

interface Failed {
  readonly name: string;
  /** The error from its tag and its content. */
  readonly error: string;
  readonly words: string;
}

interface Cases {
  readonly count: number;
  readonly failed: readonly Failed[];
  /** The end of the last tag that belongs to it. */
  readonly end: number;
}

/** All reports merged into one; a truncated one is read up to its last tag. */
export function junitReport(text: string): Reported | undefined {
  const failed: Failed[] = [];
  const around: string[] = [];
  let [count, tried, after] = [0, 0, 0];
  begin.lastIndex = 0;
  for (let found = begin.exec(text); found !== null && tried < maxTried; found = begin.exec(text)) {
    const cases = casesIn(text, found.index);
    if (cases.count === 0) {
      tried++;
      continue;
    }
    count += cases.count;
    for (const one of cases.failed) failed.push(one);
    around.push(text.slice(after, found.index));
    after = cases.end;
    begin.lastIndex = after;
  }
  if (count === 0) return undefined;
  const failing = failed.map(({ name }) => name);
  const report = {
    runner: "JUnit XML",
    failing,
    errors: failed.map(({ error }) => error).filter((error) => error !== ""),
    counts: [`${count} tests, ${new Set(failing).size} failing`],
    words: failed.flatMap(({ words }) => words.split(/\r?\n/)),
  };
  return { report, rest: [...around, text.slice(after)].join("\n") };
}

function casesIn(text: string, from: number): Cases {
  const cases = new CasesReader(text);
  let [depth, end] = [0, from];
  tags.lastIndex = from;
  for (let tag = tags.exec(text); tag !== null; tag = tags.exec(text)) {
    const [whole, kind = "", given = "", alone] = tag;
    // Another report begins, so this one was truncated.
    if (kind === "?xml") break;
    end = tag.index + whole.length;
    if (kind.startsWith("/testsuite")) depth--;
    else if (!kind.startsWith("testsuite"))
      cases.take({ kind, given, isAlone: alone !== "", from: tag.index, end });
    else if (alone === "") depth++;
    if (depth <= 0) break;
  }
  return { count: cases.count, failed: cases.failed, end };
}

interface Tag {
  readonly kind: string;
  readonly given: string;
  /** The tag has no end tag. */
  readonly isAlone: boolean;
  readonly from: number;
  readonly end: number;
}

class CasesReader {
  readonly #text: string;
  readonly failed: Failed[] = [];
  count = 0;
  #name = "";
  #open: { readonly error: string; readonly from: number } | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  take({ kind, given, isAlone, from, end }: Tag): void {
    if (kind === "testcase") {
      this.count++;
      this.#name = nameOf(given);
    } else if (kind === "failure" || kind === "error") {
      this.#open = { error: errorOf(given), from: end };
      if (isAlone) this.#close("");
    } else if (kind !== "/testcase" && this.#open) {
      this.#close(unescaped(this.#text.slice(this.#open.from, from)));
    }
  }

  #close(words: string): void {
    this.failed.push({ name: this.#name, error: this.#open?.error ?? "", words });
    this.#open = undefined;
  }
}

function nameOf(given: string): string {
  const [owner, name] = [attributeOf(given, "classname"), attributeOf(given, "name")];
  // node:test writes `test` as the class name of every test.
  return owner === "" || owner === "test" ? name : `${owner} > ${name}`;
}

/** With its type, if that says more than that the test failed. */
function errorOf(given: string): string {
  const [message = ""] = attributeOf(given, "message")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const type = attributeOf(given, "type");
  const isTold = !/[.:]|(?:Error|Exception)$/.test(type) || message.includes(type.split(".").at(-1) ?? type);
  return isTold ? message.trim() : [type, message.trim()].filter(Boolean).join(": ");
}

const form = (name: string): RegExp => new RegExp(String.raw`(?:^|\s)${name}\s*=\s*(?:"([^"]*)"|'([^']*)')`);
const forms = {
  classname: form("classname"),
  name: form("name"),
  message: form("message"),
  type: form("type"),
};

function attributeOf(given: string, name: keyof typeof forms): string {
  const found = forms[name].exec(given);
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
