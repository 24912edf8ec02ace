/** A question as text: its subject on a line of its own, the reason, and how to answer. */
import { allowForProject, allowForSession, type OpenQuestion } from "@lathe/protocol";
import type { OpenSession } from "@lathe/sessions";
import { diffLines, harmless, type Palette, ruleText } from "@lathe/terminal";

type Asked = Omit<OpenQuestion, "seq">;
export type AskedCall = Awaited<ReturnType<OpenSession["askedCall"]>>;

/** The question and how to answer it by typing; `call` is the call that needs permission, if known. */
export function questionText(asked: Asked, call: AskedCall, paint: Palette): string {
  const { kind, options } = asked;
  if (kind === "permission") {
    const isNumbered = call?.hasParts === true;
    return `${aboutText({ asked, call, isNumbered }, paint)}${paint.dim(howToAnswer(asked, isNumbered))}`;
  }
  const list = options.map((option, at) => `  ${at + 1}. ${harmless(option)}\n`).join("");
  const how = options.length > 0 ? `${paint.dim("a number, or your own words")} ` : "";
  return `${aboutText({ asked, call }, paint)}${list}${how}`;
}

interface ShownQuestion {
  readonly asked: Asked;
  readonly call: AskedCall;
  /** Whether the hunks are numbered. */
  readonly isNumbered?: boolean;
}

/** The complete subject and the reason. */
export function aboutText({ asked, call, isNumbered }: ShownQuestion, paint: Palette): string {
  const { kind, text } = asked;
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

/** The most diff lines shown per file. */
const maxLines = 400;

/** The planned changes to files. */
function filesText({ files = [] }: NonNullable<AskedCall>, paint: Palette): string {
  return files
    .map((file) => {
      const name = files.length > 1 ? [paint.bold(`  ${harmless(file.to ?? file.path)}`)] : [];
      const lines = diffLines(file.hunks.join(""), paint, maxLines).map((line) => `  ${line}`);
      return [...name, ...lines].map((line) => `${line}\n`).join("");
    })
    .join("");
}

/** Numbers the hunks through all files. */
function numberedText({ files = [] }: NonNullable<AskedCall>, paint: Palette): string {
  let number = 0;
  return files
    .flatMap(({ path, to, hunks }) => {
      const name = harmless(to === undefined ? path : `${path} → ${to}`);
      return hunks.flatMap((hunk) => {
        const head = paint.bold(`  ${++number}. ${name}`);
        return [head, ...diffLines(hunk, paint, maxLines).map((line) => `  ${line}`)];
      });
    })
    .map((line) => `${line}\n`)
    .join("");
}

/** Shows in full what a lasting answer would allow, before it is given. */
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

/** One rule per line, without duplicates. */
export function rulesText(rules: NonNullable<Asked["rules"]>): string {
  const lines = new Set(rules.map((rule) => `  ${ruleText(rule).replaceAll("\n", "\n    ")}\n`));
  return [...lines].join("");
}

/** Shows the target in full: a person can agree only to what they can see. */
function targetOf({ input, effects, command }: NonNullable<AskedCall>): string {
  if (command !== undefined) return command;
  // Only the arguments show what another program or a server receives.
  const isTold = effects.some(({ kind }) => kind === "mcp" || kind === "network");
  return isTold ? `${listOf(effects)}\n${JSON.stringify(JSON.parse(input), null, 2)}` : listOf(effects);
}

/** The path as the model wrote it. */
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

/** Reads the typed answer; undefined if it is empty. */
export function answerOf({ kind, options }: Asked, words: string): string | undefined {
  if (words === "") return undefined;
  if (kind === "question") return /^\d+$/.test(words) ? (options[Number(words) - 1] ?? words) : words;
  if (options.includes(allowForSession) && /^s(ession)?$/i.test(words)) return allowForSession;
  if (options.includes(allowForProject) && /^p(roject)?$/i.test(words)) return allowForProject;
  if (/^(y|yes|ok|okay|sure|allow)$/i.test(words)) return "allow";
  return /^(n|no|deny)$/i.test(words) ? "deny" : words;
}
