/** Follows `cd`, and makes the paths of a command relative to the workspace. */
import type { Effect } from "@lathe/protocol";
import { isPathEffect } from "../globs/match.ts";
import type { FoundCall } from "../programs/found-call.ts";
import { optionValues, type ProgramCall } from "../programs/program-call.ts";
import { tidy } from "../shell/tidy-path.ts";
import { wordEffects } from "../shell/word-paths.ts";

/** The folder of a script after a command; absent if unknown. */
export function folderAfter(
  { calls }: Pick<FoundCall, "calls">,
  folder: string | undefined,
): string | undefined {
  const call = calls.find(({ program }) => program === "cd" || program === "pushd" || program === "popd");
  if (!call) return folder;
  const [target] = call.args.filter(({ text }) => text !== "--" && !/^-[LPe@]+$/u.test(text));
  if (target === undefined || target.text.startsWith("-")) return undefined;
  const [next, ...others] = wordEffects("read", target).map((effect) => placed(effect, folder));
  return next?.expansion === "unknown" || others.length > 0 ? undefined : next?.target;
}

/** The folder of a command that another one starts elsewhere: `env -C` and `sudo -D`. */
export function folderOfCall(calls: readonly ProgramCall[], folder: string | undefined): string | undefined {
  const [call] = calls;
  const options =
    call?.program === "env" ? ["-C", "--chdir"] : call?.program === "sudo" ? ["-D", "--chdir"] : [];
  const [target] = call ? optionValues(call.args, ...options) : [];
  if (!target) return folder;
  const [next] = wordEffects("read", target).map((effect) => placed(effect, folder));
  return next?.expansion === "unknown" ? undefined : next?.target;
}

/** The effect with its path, a glob, relative to the workspace; `unknown` if that is impossible. */
export function placed(effect: Effect, folder: string | undefined): Effect {
  const { target, expansion } = effect;
  if (!isPathEffect(effect)) return effect;
  const isUnknown = expansion === "unknown";
  if (target.startsWith("/")) return { ...effect, target: tidy(unrooted(target)) };
  if ((isUnknown || effect.kind === "read") && /^[~$`]/u.test(target)) return effect;
  if (folder === undefined) return { ...effect, target: `$PWD/${target}`, expansion: "unknown" };
  const path = folder === "" ? target : `${folder}/${target}`;
  return { ...effect, target: isUnknown ? path : tidy(path) };
}

/** The same path without the detours through a process's own folder. */
function unrooted(path: string): string {
  const root = /^\/+(?:\.\/+)*proc\/+(?:self|thread-self|\d+|\*)(?:\/+task\/+[\d*]+)?\/+root(?=\/|$)/u;
  let plain = path;
  for (let i = 0; i < 8 && root.test(plain); i++) plain = plain.replace(root, "") || "/";
  return plain.replace(/^\/+proc\/+(?:self|thread-self)\/+cwd(?:\/+|$)/u, "./");
}
