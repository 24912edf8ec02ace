/** Makefile text as the shell gets it: known variables replaced, the others as shell variables. */

interface MakeVariables {
  readonly variables: ReadonlyMap<string, string | undefined>;
  readonly shells: string[];
}

export interface MakePlace {
  readonly file: MakeVariables;
  /** Set on make's command line, which takes precedence over the file. */
  readonly given: ReadonlyMap<string, string | undefined>;
  /** Set in the environment, for variables that the file does not set. */
  readonly inherited?: ReadonlyMap<string, string | undefined>;
  readonly target?: string;
  readonly needs?: readonly string[];
}

const builtIn: Readonly<Record<string, string>> = {
  AR: "ar",
  AS: "as",
  CC: "cc",
  CXX: "g++",
  CPP: "cc -E",
  FC: "f77",
  LD: "ld",
  MAKE: "make",
  RM: "rm -f",
  SHELL: "/bin/sh",
  CURDIR: ".",
  INSTALL: "install",
  TAR: "tar",
};

const deepest = 12;
const longest = 60_000;

export function makeText(text: string, place: MakePlace, depth: number = 0): string {
  if (depth > deepest || text.length > longest) return "$make_deep";
  let found = "";
  for (let at = 0; at < text.length && found.length < longest; ) {
    const char = text[at] ?? "";
    if (char !== "$") {
      found += char;
      at++;
      continue;
    }
    const next = text[at + 1] ?? "";
    const end = next === "(" || next === "{" ? closing(text, at + 1) : at + 1;
    const inner = end > at + 1 ? text.slice(at + 2, end) : next;
    found += next === "$" ? "$" : toldValue(inner, place, depth + 1);
    at = end + 1;
  }
  return found;
}

/** The position of the closing parenthesis for the one at `from`. */
function closing(text: string, from: number): number {
  const [open, close] = text[from] === "(" ? ["(", ")"] : ["{", "}"];
  let level = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === open) level++;
    if (text[at] === close && --level === 0) return at;
  }
  return text.length;
}

function toldValue(name: string, place: MakePlace, depth: number): string {
  const { target, needs = [] } = place;
  if (name === "@") return target ?? "$make_target";
  if (name === "<") return needs[0] ?? "$make_need";
  if (name === "^" || name === "+") return needs.length > 0 ? needs.join(" ") : "$make_needs";
  if (/^\W|^[@<^+?*%][DF]$/u.test(name)) return "$make_auto";
  const [, call, rest = ""] = /^([a-z-]+)[\s,]([\s\S]*)$/u.exec(name) ?? [];
  if (call !== undefined) return calledText({ call, rest }, place, depth);
  const plain = name.replace(/:.*$/su, "");
  const isChanged = plain !== name;
  const value = isChanged
    ? undefined
    : rawValue(/\$/u.test(plain) ? makeText(plain, place, depth) : plain, place);
  return value === undefined ? `$make_${plain.replace(/\W/gu, "_")}` : makeText(value, place, depth);
}

/** Undefined if unknown. */
function rawValue(name: string, { file, given, inherited }: MakePlace): string | undefined {
  if (given.has(name)) return given.get(name);
  if (file.variables.has(name)) return file.variables.get(name);
  if (inherited?.has(name)) return inherited.get(name);
  return Object.hasOwn(builtIn, name) ? builtIn[name] : "";
}

function calledText(
  { call, rest }: { readonly call: string; readonly rest: string },
  place: MakePlace,
  depth: number,
): string {
  if (call === "shell") {
    place.file.shells.push(makeText(rest, place, depth));
    return "$make_shell";
  }
  if (/^(?:info|warning|error)$/u.test(call)) return "";
  if (call !== "call") {
    // Commands inside run in any case.
    makeText(rest, place, depth);
    return "$make_function";
  }
  const [name = "", ...args] = rest.split(",");
  const values = new Map(place.given);
  for (const [i, arg] of args.entries()) values.set(String(i + 1), makeText(arg.trim(), place, depth));
  return makeText(rawValue(name.trim(), place) ?? "$make_call", { ...place, given: values }, depth);
}
