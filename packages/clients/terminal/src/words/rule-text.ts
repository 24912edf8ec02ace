/** Describes what an allow rule permits. */
import { basename } from "node:path";
import type { EffectKind, Rule } from "@lathe/protocol";
import { harmless } from "../text/fit.ts";

const does: Readonly<Record<EffectKind, string>> = {
  read: "read",
  write: "write",
  delete: "delete",
  execute: "run exactly",
  network: "reach",
  vcs: "run exactly",
  process: "run exactly",
  mcp: "call the tool",
};

/** For example `write /data and what lies below it`. */
export function ruleText({ kinds, target = "**" }: Rule): string {
  const what = kinds?.map((kind) => does[kind]).join(" or ") ?? "do anything with";
  const isTree = target.endsWith("/**") && basename(target) === "**";
  const name = (isTree ? target.slice(0, -3) : target).replace(/\\([\s\S])/gu, "$1");
  return harmless(`${what} ${name}${isTree ? " and what lies below it" : ""}`);
}
