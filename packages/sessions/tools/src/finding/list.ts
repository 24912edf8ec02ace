/** `list`: lists the content of a folder. */
import { posix } from "node:path";
import { matchesPath } from "@lathe/policy";
import { type Entry, isFailure, type Tool } from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, failed, ok } from "../define-tool.ts";
import { text } from "../schema.ts";
import { targetOf } from "../target-of.ts";
import { leftOutNote } from "./left-out.ts";
import { isOutcome, placeOf } from "./place-of.ts";

const maxEntries = 500;
const marks = { file: "", folder: "/", link: "@", other: "?" };

export const list: Tool = defineTool({
  name: "list",
  knownAs: ["ls"],
  kind: "read",
  description: "List a folder: names with / for folders, @ for links, bytes for files.",
  schema: { path: v.optional(text("default: the workspace")) },
  counterpart: ({ path }, { pathOf }) => ({ tool_name: "LS", tool_input: { path: pathOf(path ?? ".") } }),
  effects: ({ path }) => [{ kind: "read", target: targetOf(path) }],
  async run({ path }, context) {
    const place = await placeOf(path ?? ".", context);
    if (isOutcome(place)) return place;
    const folder = place.path;
    const found = await place.files.list(folder);
    if (isFailure(found)) return failed(found);
    // A single name is no secret, but the names in a fully excluded folder are.
    const closing = context.unreadable(folder).filter((glob) => glob.endsWith("/*"));
    const isClosed = ({ name }: Entry) => closing.some((glob) => matchesPath(glob, posix.join(folder, name)));
    const entries = found.filter((entry) => !isClosed(entry));
    const lines = entries.slice(0, maxEntries).map(lineOf);
    const left = entries.length - lines.length;
    const notes = [
      ...(left > 0 ? [`[${left} more: use find_files]`] : []),
      ...leftOutNote(found.length - entries.length, "name"),
    ];
    return ok([...lines, ...notes].join("\n") || "(empty folder)");
  },
});

function lineOf({ name, kind, size }: Entry): string {
  return `${name}${marks[kind]}${kind === "file" ? ` ${size}` : ""}`;
}
