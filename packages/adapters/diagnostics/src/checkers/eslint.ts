/** ESLint: lints JavaScript, and TypeScript if configured. */
import { type Problem, parseJson } from "@lathe/protocol";
import { type Checker, countField, fieldOf, listOf, notChecked, textField } from "../checker.ts";

export const eslint: Checker = {
  name: "eslint",
  knows: /\.(?:[cm]?[jt]s|[jt]sx|vue|svelte|astro)$/u,
  pace: 4,
  marks: [{ file: /^(?:eslint\.config\.[cm]?[jt]s|\.eslintrc(?:\.(?:[cm]?js|json|ya?ml))?)$/u }],
  home: "node",
  program: "eslint",
  words: (paths) => ["-f", "json", ...(paths.length > 0 ? paths : ["."])],
  read(ran) {
    const files = parseJson(ran.output);
    // Exit code 2 means a crash or unreadable settings.
    if (!Array.isArray(files) || ran.code > 1) return notChecked("eslint", ran);
    return { problems: files.flatMap(problemsOf) };
  },
};

function problemsOf(file: unknown): readonly Problem[] {
  const path = textField(file, "filePath") ?? "";
  return listOf(fieldOf(file, "messages")).map((message): Problem => {
    const code = textField(message, "ruleId");
    return {
      path,
      line: countField(message, "line"),
      column: countField(message, "column"),
      severity: fieldOf(message, "severity") === 1 ? "warning" : "error",
      ...(code !== undefined && { code }),
      message: textField(message, "message") ?? "",
    };
  });
}
