/** Reads the skills that the project and the user wrote down. */
import { dirname } from "node:path";
import type { Skill } from "@lathe/tools";
import { type CustomFile, readCustomFiles } from "../files/extension-files.ts";
import type { ExtensionPlace } from "../files/extension-place.ts";
import { isName, switchOf, textOf } from "../files/fields.ts";

export interface Skills {
  readonly skills: readonly Skill[];
  /** What was left out and why, one sentence each. */
  readonly remarks: readonly string[];
}

const longestAbout = 200;
/** Characters of all lines that a model is shown of them, and of the names of those that have none. */
const mostListed = 4_000;
const mostNamed = 2_000;

export async function readSkills(place: ExtensionPlace): Promise<Skills> {
  const { files, remarks } = await readCustomFiles(place, {
    ...{ folder: "skills", file: "SKILL.md", refuses: problemOf },
  });
  const offered = files.filter(({ fields }) => switchOf(fields, "disable-model-invocation") !== true);
  const { listed, remarks: tooMany } = listedOf(offered.map(skillOf));
  return { skills: listed, remarks: [...remarks, ...tooMany] };
}

/** Those whose lines are too long together keep their names, as far as these are not. */
function listedOf(skills: readonly Skill[]): {
  readonly listed: readonly Skill[];
  readonly remarks: string[];
} {
  const described = shorterThan(mostListed, skills, ({ name, about }) => name.length + about.length);
  const others = skills.slice(described).map((skill) => ({ ...skill, about: "" }));
  const named = shorterThan(mostNamed, others, ({ name }) => name.length);
  const dropped = others.slice(named).map(({ name }) => name);
  const remarks: string[] = [];
  if (named > 0)
    remarks.push(
      `${named} of ${skills.length} skills are listed by their names alone, as all descriptions are too long together`,
    );
  if (dropped.length > 0) remarks.push(`too many skills; left out: ${dropped.join(", ")}`);
  return { listed: [...skills.slice(0, described), ...others.slice(0, named)], remarks };
}

/** How many of the first are not longer than that together. */
function shorterThan(most: number, skills: readonly Skill[], lengthOf: (skill: Skill) => number): number {
  let left = most;
  const at = skills.findIndex((skill) => {
    left -= lengthOf(skill);
    return left < 0;
  });
  return at < 0 ? skills.length : at;
}

function skillOf({ name, path, fields, body }: CustomFile): Skill {
  const about = (textOf(fields, "description") ?? "").replace(/\s+/gu, " ");
  const short =
    about.length <= longestAbout ? about : `${about.slice(0, longestAbout).replace(/\s+\S*$/u, "")}…`;
  return { name, about: short, folder: dirname(path), body };
}

function problemOf({ name, fields }: CustomFile): string | undefined {
  if (!isName(name)) return `"${name}" is no name for a skill`;
  return textOf(fields, "description") === undefined ? "it has no description" : undefined;
}
