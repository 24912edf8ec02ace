/** cargo check: what rustc says of a crate or a workspace of them. */
import type { Problem } from "@lathe/protocol";
import { type Checker, countField, fieldOf, jsonOf, listOf, notChecked, textField } from "../checker.ts";

export const cargoCheck: Checker = {
  name: "cargo check",
  knows: /\.rs$/u,
  pace: 5,
  marks: [{ file: /^Cargo\.toml$/u }],
  home: "path",
  program: "cargo",
  // Without network it would try for a minute to reach the registry.
  words: () => ["check", "--message-format=json", "--offline"],
  read(ran) {
    const told = ran.output.split("\n").map((line) => jsonOf(line));
    const problems = told.flatMap(problemOf);
    const isFinished = told.some((one) => textField(one, "reason") === "build-finished");
    const isWell = isFinished && (ran.code === 0 || problems.some(({ severity }) => severity === "error"));
    return isWell ? { problems } : notChecked("cargo check", ran);
  },
};

function problemOf(told: unknown): readonly Problem[] {
  if (textField(told, "reason") !== "compiler-message") return [];
  const message = fieldOf(told, "message");
  const level = textField(message, "level") ?? "";
  const spans = listOf(fieldOf(message, "spans"));
  const span = spans.find((one) => fieldOf(one, "is_primary") === true) ?? spans[0];
  if (span === undefined) return [];
  const code = textField(fieldOf(message, "code"), "code");
  const label = textField(span, "label");
  const text = textField(message, "message") ?? "";
  return [
    {
      path: textField(span, "file_name") ?? "",
      line: countField(span, "line_start"),
      column: countField(span, "column_start"),
      severity: level.startsWith("error") ? "error" : level === "warning" ? "warning" : "info",
      ...(code !== undefined && { code }),
      message: label ? `${text}: ${label}` : text,
    },
  ];
}
