/** go vet: compiles Go packages without output, and reports suspicious code. */
import { posix } from "node:path";
import { type Failure, isFailure, type Problem, parseJson } from "@lathe/protocol";
import { type Checker, fieldOf, listOf, notChecked, textField } from "../checker.ts";

const place = /^(?:vet: )?(.+?\.go):(\d+)(?::(\d+))?(?:: (.*))?$/su;

export const goVet: Checker = {
  name: "go vet",
  knows: /\.go$/u,
  pace: 3,
  marks: [{ file: /^go\.mod$/u }],
  home: "path",
  program: "go",
  words: (paths) => ["vet", "-json", ...(paths.length > 0 ? new Set(paths.map(packageOf)) : ["./..."])],
  leaves: [".go"],
  parts: () => true,
  doubt: constraintOf,
  read(ran) {
    const { json, rest } = parted(`${ran.output}\n${ran.errors}`);
    const vetted = json.map(vettedIn);
    const broken = vetted.find(isFailure);
    if (broken) return notChecked("go vet", ran);
    const found = vetted.flatMap((one) => (isFailure(one) ? [] : one));
    const problems = [...rest.flatMap(brokenAt), ...found];
    return problems.length === 0 && ran.code !== 0 ? notChecked("go vet", ran) : { problems };
  },
};

const systems =
  "aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows";
const machines = "386|amd64|arm|arm64|loong64|mips|mipsle|mips64|mips64le|ppc64|ppc64le|riscv64|s390x|wasm";
const named = new RegExp(`_(?:${systems}|${machines})(?:_test)?\\.go$`, "u");
const constraint = /^\/\/(?:go:build| ?\+build) (.*)$/mu;

/** A file's platform, from its name or its build constraint: go does not mention files of others. */
function constraintOf(path: string, text: string): string | undefined {
  const name = posix.basename(path);
  if (named.test(name)) return "its name says for which machines it is";
  const [, words] = constraint.exec(text.slice(0, Math.max(0, text.search(/^package /mu)))) ?? [];
  return words === undefined ? undefined : `it is built for ${words.trim().slice(0, 100)} alone`;
}

/** Go checks packages, which are folders. */
function packageOf(path: string): string {
  const folder = path.endsWith(".go") ? posix.dirname(path) : posix.join(path, "...");
  return folder === "." || folder === "..."
    ? `./${folder === "." ? "" : "..."}`
    : `./${posix.normalize(folder)}`;
}

/** Older versions print the objects among their errors. */
function parted(text: string): { readonly json: readonly string[]; readonly rest: readonly string[] } {
  const json: string[] = [];
  const rest: string[] = [];
  let open: string[] | undefined;
  for (const line of text.split(/\r?\n/u)) {
    if (!open && line === "{}") continue;
    if (!open && line === "{") open = [];
    if (open) open.push(line);
    else rest.push(line);
    if (open && line === "}") {
      json.push(open.join("\n"));
      open = undefined;
    }
  }
  return { json: open ? [...json, open.join("\n")] : json, rest };
}

/** Package -> analyser -> findings. */
function vettedIn(json: string): readonly Problem[] | Failure {
  const packages = parseJson(json);
  if (packages === undefined) return notChecked("go vet", { output: json, errors: "", code: 0 });
  return Object.values(packages as object).flatMap((analysers) =>
    Object.entries(Object(analysers)).flatMap(([code, found]) =>
      listOf(found).flatMap((one) => vettedOne(one, code)),
    ),
  );
}

function vettedOne(found: unknown, code: string): readonly Problem[] {
  const [, path, line, column] = place.exec(textField(found, "posn") ?? "") ?? [];
  const message = textField(found, "message") ?? String(fieldOf(found, "message") ?? "");
  if (path === undefined) return [];
  return [{ path, line: Number(line), column: Number(column ?? 1), severity: "warning", code, message }];
}

/** Compile errors. */
function brokenAt(text: string): readonly Problem[] {
  const [, path, line, column, message] = place.exec(text) ?? [];
  if (path === undefined || message === undefined) return [];
  return [{ path, line: Number(line), column: Number(column ?? 1), severity: "error", message }];
}
