/** Biome: lints JavaScript, TypeScript, JSON and CSS. */
import { type Problem, parseJson, type Severity } from "@lathe/protocol";
import { type Checker, countField, fieldOf, listOf, notChecked, textField } from "../checker.ts";

/** Maximum problems that Biome reports; it only counts the rest. */
const most = 200;

export const biome: Checker = {
  name: "biome",
  knows: /\.(?:[cm]?[jt]s|[jt]sx|jsonc?|css|graphql|vue|svelte|astro)$/u,
  pace: 1,
  marks: [{ file: /^\.?biome\.jsonc?$/u }],
  home: "node",
  program: "biome",
  words: (paths) => ["lint", "--reporter=json", `--max-diagnostics=${most}`, ...paths],
  read(ran) {
    // Unreadable settings are reported on the other stream, without JSON.
    const found = parseJson(ran.output.trim());
    const diagnostics = fieldOf(found, "diagnostics");
    if (!Array.isArray(diagnostics)) return notChecked("biome", ran);
    const problems = diagnostics.map(problemOf);
    if (problems.length === 0 && ran.code !== 0) return notChecked("biome", ran);
    const left = fieldOf(fieldOf(found, "summary"), "diagnosticsNotPrinted");
    const notes = typeof left === "number" && left > 0 ? [`biome found ${left} more`] : [];
    return { problems, notes };
  },
};

function problemOf(diagnostic: unknown): Problem {
  const location = fieldOf(diagnostic, "location");
  const path = fieldOf(location, "path");
  const code = textField(diagnostic, "category");
  const message = textField(diagnostic, "message") ?? textField(diagnostic, "description") ?? "";
  return {
    path: typeof path === "string" ? path : (textField(path, "file") ?? ""),
    ...placeOf(location),
    severity: severityOf(textField(diagnostic, "severity")),
    ...(code !== undefined && { code }),
    message,
  };
}

/** Biome 2 gives line and column; Biome 1 gives byte offsets and the text. */
function placeOf(location: unknown): Pick<Problem, "line" | "column"> {
  const start = fieldOf(location, "start");
  if (start !== undefined) return { line: countField(start, "line"), column: countField(start, "column") };
  const [from] = listOf(fieldOf(location, "span"));
  const text = textField(location, "sourceCode");
  if (typeof from !== "number" || text === undefined) return { line: 1, column: 1 };
  const before = new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, from)).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function severityOf(severity: string | undefined): Severity {
  if (severity === "error" || severity === "fatal") return "error";
  return severity === "warning" ? "warning" : "info";
}
