/** Reads the skills of the project and the user. */
import { dirname } from "node:path";
import type { Skill } from "@lathe/tools";
import { type ExtensionFile, readExtensionFiles } from "../files/extension-files.ts";
import type { ExtensionPlace } from "../files/extension-place.ts";
import { isName, switchOf, textOf } from "../files/fields.ts";

export interface Skills {
  readonly skills: readonly Skill[];
  /** One sentence for each skill that was skipped, with the reason. */
  readonly remarks: readonly string[];
}

/** In characters: one description, all lines shown to a model, and all names shown without a description. */
const maxAbout = 200;
const maxListed = 4_000;
const maxNamed = 2_000;

export async function readSkills(place: ExtensionPlace): Promise<Skills> {
  const { files, remarks } = await readExtensionFiles(place, {
    folder: "skills",
    file: "SKILL.md",
    refuses: problemOf,
  });
  const offered = files.filter(({ fields }) => switchOf(fields, "disable-model-invocation") !== true);
  const { listed, remarks: tooMany } = listedOf(offered.map(skillOf));
  return { skills: listed, remarks: [...remarks, ...tooMany] };
}

/** Skills beyond the limit are listed by name only, and left out beyond the limit for names. */
function listedOf(skills: readonly Skill[]): {
  readonly listed: readonly Skill[];
  readonly remarks: string[];
} {
  const described = countWithin(maxListed, skills, ({ name, about }) => name.length + about.length);
  const others = skills.slice(described).map((skill) => ({ ...skill, about: "" }));
  const named = countWithin(maxNamed, others, ({ name }) => name.length);
  const dropped = others.slice(named).map(({ name }) => name);
  const remarks: string[] = [];
  if (named > 0)
    remarks.push(
      `${named} of ${skills.length} skills are listed by their names alone, as all descriptions are too long together`,
    );
  if (dropped.length > 0) remarks.push(`too many skills; left out: ${dropped.join(", ")}`);
  return { listed: [...skills.slice(0, described), ...others.slice(0, named)], remarks };
}

/** How many of the first skills fit into `max` together. */
function countWithin(max: number, skills: readonly Skill[], lengthOf: (skill: Skill) => number): number {
  let left = max;
  const at = skills.findIndex((skill) => {
    left -= lengthOf(skill);
    return left < 0;
  });
  return at < 0 ? skills.length : at;
}

function skillOf({ name, path, fields, body }: ExtensionFile): Skill {
  const about = (textOf(fields, "description") ?? "").replace(/\s+/gu, " ");
  const short = about.length <= maxAbout ? about : `${about.slice(0, maxAbout).replace(/\s+\S*$/u, "")}…`;
  return { name, about: short, folder: dirname(path), body };
}

function problemOf({ name, fields }: ExtensionFile): string | undefined {
  if (!isName(name)) return `"${name}" is no name for a skill`;
  return textOf(fields, "description") === undefined ? "it has no description" : undefined;
}
