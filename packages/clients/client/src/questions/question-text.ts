/** A question as it stands on the screen: what it is about on a line of its own, why, and how to answer. */
import type { LocalSession } from "@lathe/hosts/local";
import { allowForProject, allowForSession, type Event } from "@lathe/protocol";
import { diffLines, harmless, type Palette, ruleText } from "@lathe/terminal";

type Asked = Event<"question.asked">["data"];
export type AskedCall = Awaited<ReturnType<LocalSession["askedCall"]>>;

/** With how to answer it by typing; `call` is what a permission is asked for, where that is known. */
export function questionText(asked: Asked, call: AskedCall, paint: Palette): string {
  const { kind, options } = asked;
  if (kind === "permission") {
    const isNumbered = call?.hasParts === true;
    return `${aboutText(asked, call, paint, isNumbered)}${paint.dim(howToAnswer(asked, isNumbered))}`;
  }
  const list = options.map((option, at) => `  ${at + 1}. ${harmless(option)}\n`).join("");
  const how = options.length > 0 ? `${paint.dim("a number, or your own words")} ` : "";
  return `${aboutText(asked, call, paint)}${list}${how}`;
}

/** What is asked, whole, and why; with numbers by which hunks can be named. */
export function aboutText(
  ...[{ kind, text }, call, paint, isNumbered]: [Asked, AskedCall, Palette, boolean?]
): string {
  const { bold, dim, yellow } = paint;
  if (kind === "question" || !call) return `\n${yellow("?")} ${bold(harmless(text))}\n`;
  const target = harmless(targetOf(call)).replaceAll("\n", "\n  ");
  const by = call.by === undefined ? "" : ` for the subagent ${harmless(call.by)}`;
  if (call.beyond) {
    const wanted = `  ${bold(harmless(listOf(call.beyond)).replaceAll("\n", "\n  "))}\n${dim(oneLine(call.why))}\n`;
    if (call.command === undefined)
      return `\n${yellow("?")} May ${call.tool} look at ${oneLine(pathOf(call))}${by}?\n${wanted}`;
    return `\n${yellow("?")} The sandbox stopped this${by}. Run it again with more allowed?\n  ${target}\n${wanted}`;
  }
  const files = isNumbered ? numberedText(call, paint) : filesText(call, paint);
  return `\n${yellow("?")} May ${call.tool} do this${by}?\n  ${bold(target)}\n${files}${dim(oneLine(call.why))}\n`;
}

/** Lines of the change to each file. */
const mostLines = 400;

/** What the files would say. */
function filesText({ files = [] }: NonNullable<AskedCall>, paint: Palette): string {
  return files
    .map((file) => {
      const name = files.length > 1 ? [paint.bold(`  ${harmless(file.to ?? file.path)}`)] : [];
      const lines = diffLines(file.hunks.join(""), paint, mostLines).map((line) => `  ${line}`);
      return [...name, ...lines].map((line) => `${line}\n`).join("");
    })
    .join("");
}

/** Each hunk below its number, which counts through all files. */
function numberedText({ files = [] }: NonNullable<AskedCall>, paint: Palette): string {
  let number = 0;
  return files
    .flatMap(({ path, to, hunks }) => {
      const name = harmless(to === undefined ? path : `${path} → ${to}`);
      return hunks.flatMap((hunk) => {
        const head = paint.bold(`  ${++number}. ${name}`);
        return [head, ...diffLines(hunk, paint, mostLines).map((line) => `  ${line}`)];
      });
    })
    .map((line) => `${line}\n`)
    .join("");
}

/** What an answer for more than this once would mean is shown before it is given, and whole. */
function howToAnswer({ options, rules = [] }: Asked, hasParts: boolean): string {
  const some = hasParts ? "[1,3] some hunks, [h]unk by hunk, " : "";
  const last = `${some}[n]o, or say what to do instead `;
  if (!options.includes(allowForSession)) return `[y]es, ${last}`;
  if (rules.length === 0) return `[y]es, [s] for the whole session, ${last}`;
  const isLasting = options.includes(allowForProject);
  const scopes = isLasting ? "the [s]ession or the [p]roject" : "the [s]ession";
  const keys = isLasting ? "[s]ession, [p]roject" : "[s]ession";
  return `for ${scopes} this would let happen unasked:\n${rulesText(rules)}[y]es, ${keys}, ${last}`;
}

/** One rule a line; those that say the same in words, once. */
export function rulesText(rules: NonNullable<Asked["rules"]>): string {
  const lines = new Set(rules.map((rule) => `  ${ruleText(rule).replaceAll("\n", "\n    ")}\n`));
  return [...lines].join("");
}

/** Whole, whatever its length: what is not shown cannot be agreed to. */
function targetOf({ input, effects, command }: NonNullable<AskedCall>): string {
  if (command !== undefined) return command;
  // What another program or a server is told is in the arguments alone.
  const isTold = effects.some(({ kind }) => kind === "mcp" || kind === "network");
  return isTold ? `${listOf(effects)}\n${JSON.stringify(JSON.parse(input), null, 2)}` : listOf(effects);
}

/** As the model wrote it. */
function pathOf({ input }: NonNullable<AskedCall>): string {
  const { path = "." } = JSON.parse(input) as { readonly path?: unknown };
  return String(path);
}

function listOf(effects: NonNullable<AskedCall>["effects"]): string {
  return [...new Set(effects.map(({ kind, target }) => `${kind} ${target}`))].join("\n");
}

function oneLine(text: string): string {
  return harmless(text).replace(/\s+/g, " ");
}

/** What the words mean; undefined when nothing was said. */
export function answerOf({ kind, options }: Asked, words: string): string | undefined {
  if (words === "") return undefined;
  if (kind === "question") return /^\d+$/.test(words) ? (options[Number(words) - 1] ?? words) : words;
  if (options.includes(allowForSession) && /^s(ession)?$/i.test(words)) return allowForSession;
  if (options.includes(allowForProject) && /^p(roject)?$/i.test(words)) return allowForProject;
  if (/^(y|yes|ok|okay|sure|allow)$/i.test(words)) return "allow";
  return /^(n|no|deny)$/i.test(words) ? "deny" : words;
}
