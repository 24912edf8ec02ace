/** A question as it stands on the screen: what it is about on a line of its own, why, and how to answer. */
import type { LocalSession } from "@lathe/hosts/local";
import { allowForSession, type Event } from "@lathe/protocol";
import { harmless } from "./render/fit.ts";
import type { Palette } from "./render/palette.ts";

type Asked = Event<"question.asked">["data"];
export type AskedCall = Awaited<ReturnType<LocalSession["askedCall"]>>;

/** `call` is what a permission is asked for, where that is known. */
export function questionText({ kind, text, options }: Asked, call: AskedCall, paint: Palette): string {
  const { bold, dim, yellow } = paint;
  if (kind === "question") {
    const list = options.map((option, at) => `  ${at + 1}. ${harmless(option)}\n`).join("");
    const how = options.length > 0 ? `${dim("a number, or your own words")} ` : "";
    return `\n${yellow("?")} ${bold(harmless(text))}\n${list}${how}`;
  }
  const more = options.includes(allowForSession) ? "[s] for the whole session, " : "";
  const how = `${dim(`[y]es, ${more}[n]o, or say what to do instead`)} `;
  if (!call) return `\n${yellow("?")} ${bold(harmless(text))}\n${how}`;
  const target = harmless(targetOf(call)).replaceAll("\n", "\n  ");
  if (call.beyond) {
    const wanted = harmless(listOf(call.beyond)).replaceAll("\n", "\n  ");
    return `\n${yellow("?")} The sandbox stopped this. Run it again with more allowed?\n  ${target}\n  ${bold(wanted)}\n${dim(oneLine(call.why))}\n${how}`;
  }
  return `\n${yellow("?")} May ${call.tool} do this?\n  ${bold(target)}\n${dim(oneLine(call.why))}\n${how}`;
}

/** Whole, whatever its length: what is not shown cannot be agreed to. */
function targetOf({ input, effects }: NonNullable<AskedCall>): string {
  const { command } = JSON.parse(input) as { readonly command?: unknown };
  if (typeof command === "string") return command;
  return listOf(effects);
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
  if (/^(y|yes|ok|okay|sure|allow)$/i.test(words)) return "allow";
  return /^(n|no|deny)$/i.test(words) ? "deny" : words;
}
