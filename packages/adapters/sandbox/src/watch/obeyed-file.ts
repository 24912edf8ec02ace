/**
 * Obeyed file: a workspace file that git's settings name, or that a link puts in place of one that runs
 * later.
 */
import { readdirSync } from "node:fs";
import { isBelow } from "@lathe/system/paths";
import { namedBySettings } from "./git-folder.ts";
import { listedEntry } from "./listed-entry.ts";
import { globalSettings, repositoryOf, settingsOf } from "./repository-of.ts";

export interface ObeyedPlace {
  readonly workspace: string;
  readonly home: string;
}

/** The reason why the file at a real path is obeyed; undefined if it is not. */
export function obeyedReason(path: string, place: ObeyedPlace): string | undefined {
  if (named(place).some((one) => (one.isFolder ? isBelow(path, one.path) : path === one.path)))
    return "git's settings name it as something to run";
  const link = linkTo(path, place);
  return link === undefined
    ? undefined
    : `the link ${link} leads to it, and what it stands for can run later`;
}

function named({ workspace, home }: ObeyedPlace): ReturnType<typeof namedBySettings> {
  const repository = repositoryOf(workspace);
  const own = repository ? settingsOf(repository) : [];
  const git = own[0]?.git ?? `${workspace}/.git`;
  const texts = [...own, ...globalSettings(home).map((text) => ({ git, text: Buffer.from(text, "latin1") }))];
  const place = { workspace, top: repository?.top, withAbsent: true };
  return texts.flatMap((one) => namedBySettings(one.text.toString(), { git: one.git, ...place }));
}

/** The name of a link to it at the top of the workspace. */
function linkTo(path: string, { workspace }: ObeyedPlace): string | undefined {
  try {
    const links = readdirSync(workspace, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
    return links.find((entry) => {
      const { guarded } = listedEntry(workspace, entry, { workspace, isNew: false });
      return guarded.some((one) => (one.isFolder ? isBelow(path, one.path) : path === one.path));
    })?.name;
  } catch {
    return undefined;
  }
}
