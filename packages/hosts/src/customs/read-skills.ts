/** Reads the skills that the project and the user wrote down. */
import { dirname } from "node:path";
import type { Skill } from "@lathe/tools";
import { type CustomFile, type CustomPlace, readCustomFiles } from "./custom-files.ts";
import { isName, nameOf, textOf } from "./fields.ts";

export interface Skills {
  readonly skills: readonly Skill[];
  /** What was left out and why, one sentence each. */
  readonly remarks: readonly string[];
}

const longestAbout = 200;
/** Characters of all lines that a model is shown of them. */
const mostListed = 4_000;

export async function readSkills(place: CustomPlace): Promise<Skills> {
  const { files, remarks } = await readCustomFiles(place, { folder: "skills", file: "SKILL.md" });
  const wrong = files.flatMap(problemOf);
  const offered = files.filter(
    (file) => problemOf(file).length === 0 && textOf(file.fields, "disable-model-invocation") !== "true",
  );
  const skills = offered.map(skillOf);
  let left = mostListed;
  const listed = skills.filter(({ name, about }) => {
    left -= name.length + about.length;
    return left >= 0;
  });
  const more = skills.length - listed.length;
  const tooMany =
    more > 0
      ? [`${more} of ${skills.length} skills were left out: their descriptions are too long together`]
      : [];
  return { skills: listed, remarks: [...remarks, ...wrong, ...tooMany] };
}

function skillOf({ name, path, fields, body }: CustomFile): Skill {
  const about = (textOf(fields, "description") ?? "").replace(/\s+/gu, " ");
  const short =
    about.length <= longestAbout ? about : `${about.slice(0, longestAbout).replace(/\s+\S*$/u, "")}…`;
  return { name: nameOf(fields, name), about: short, folder: dirname(path), body };
}

function problemOf({ name: folder, path, fields }: CustomFile): readonly string[] {
  const name = nameOf(fields, folder);
  if (!isName(name)) return [`${path} was left out: "${name}" is no name for a skill`];
  return textOf(fields, "description") === undefined ? [`${path} was left out: it has no description`] : [];
}
