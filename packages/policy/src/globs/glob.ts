/** Globs over targets: of paths, where `*` stays within a segment, and of other text, where it runs over anything. */
import { expandBraces } from "./shell-glob.ts";

/** Whether a path matches: `*` and `?` within a segment, `**` across, `{a,b}`; without a slash, at any depth. */
export function matchesPath(glob: string, path: string): boolean {
  return compiled(glob, "path").test(path);
}

/** Whether a command, host or id matches: `*` runs over anything; a last ` *` also matches no arguments at all. */
export function matchesText(glob: string, text: string): boolean {
  return compiled(glob, "text").test(text);
}

/** The same in globs without braces, in which `**` stands alone between slashes. */
export function plainGlobs(glob: string): readonly string[] {
  return expandBraces(atAnyDepth(glob)).flatMap(withoutInnerRuns);
}

/** Within a name `**` runs over folders too: `a**b` is `a*b`, and `a*`, folders, `*b`. */
function withoutInnerRuns(rule: string): readonly string[] {
  const inner = /(?<=[^/])\*\*+|(?<![^/])\*\*+(?=[^/*])/gu;
  return inner.test(rule) ? [rule.replace(inner, "*"), rule.replace(inner, "*/**/*")] : [rule];
}

type Kind = "path" | "text";

/** By the very text of a rule, whose hash is known: a rule on secrets is a kilobyte long. */
const cache: Readonly<Record<Kind, Map<string, RegExp>>> = { path: new Map(), text: new Map() };

function compiled(glob: string, kind: Kind): RegExp {
  const known = cache[kind].get(glob);
  if (known) return known;
  const whole = kind === "path" ? atAnyDepth(glob) : glob;
  const made = new RegExp(`^${source(whole, kind)}$`, "su");
  cache[kind].set(glob, made);
  return made;
}

function atAnyDepth(glob: string): string {
  return glob.includes("/") ? glob : `**/${glob}`;
}

const tokens = /\\.|(?<![^/])\*\*\/|\/\*\*$|\*\*| \*$|\*|\?|\{[^{}]*\}|[^\\*?{} /]+|[\s\S]/gu;

function source(glob: string, kind: Kind): string {
  const parts = glob.match(tokens) ?? [];
  return parts.map((part) => (kind === "path" ? pathPart(part) : textPart(part))).join("");
}

function pathPart(part: string): string {
  if (part.startsWith("\\")) return escaped(part.slice(1));
  if (part === "**/") return "(?:.*/)?";
  if (part === "/**") return "(?:/.*)?";
  if (part === "**") return ".*";
  if (part === " *") return " [^/]*";
  if (part === "*") return "[^/]*";
  if (part === "?") return "[^/]";
  return braces(part, "path") ?? escaped(part);
}

function textPart(part: string): string {
  if (part.startsWith("\\")) return escaped(part.slice(1));
  if (part === " *") return "(?: .*)?";
  if (/^\*+$/u.test(part)) return ".*";
  if (part === "**/" || part === "/**") return part === "**/" ? ".*/" : "/.*";
  if (part === "?") return ".";
  return braces(part, "text") ?? escaped(part);
}

function braces(part: string, kind: Kind): string | undefined {
  if (!part.startsWith("{") || part.length < 2) return undefined;
  const choices = part
    .slice(1, -1)
    .split(",")
    .map((choice) => source(choice, kind));
  return `(?:${choices.join("|")})`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&");
}
