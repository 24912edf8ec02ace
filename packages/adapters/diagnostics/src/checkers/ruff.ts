/** Ruff: lints Python. */
import { parseJson } from "@lathe/protocol";
import { type Checker, countField, fieldOf, notChecked, textField } from "../checker.ts";

export const ruff: Checker = {
  name: "ruff",
  knows: /\.(?:pyi?|ipynb)$/u,
  pace: 1,
  marks: [{ file: /^\.?ruff\.toml$/u }, { file: /^pyproject\.toml$/u, says: /\bruff\b/u }],
  home: "python",
  program: "ruff",
  words: (paths) => ["check", "--output-format", "json", "--no-cache", ...(paths.length > 0 ? paths : ["."])],
  read(ran) {
    const found = parseJson(ran.output.trim());
    if (!Array.isArray(found) || ran.code > 1) return notChecked("ruff", ran);
    return {
      problems: found.map((one) => {
        const place = fieldOf(one, "location");
        const code = textField(one, "code");
        return {
          path: textField(one, "filename") ?? "",
          line: countField(place, "row"),
          column: countField(place, "column"),
          severity: textField(one, "severity") === "warning" ? "warning" : "error",
          ...(code !== undefined && { code }),
          message: textField(one, "message") ?? "",
        };
      }),
    };
  },
};
