/** What code of another language does, by the calls that can be recognised in its text; what hides a call is graver. */
import type { Effect } from "@lathe/protocol";
import { escapeGlob } from "./shell-glob.ts";

export interface CodeRuns {
  /** Commands it starts, as far as they stand there as text. */
  readonly scripts: readonly string[];
  /** It starts, or is, something that cannot be told. */
  readonly isUndecided: boolean;
}

const deleting =
  /\b(?:unlink(?:Sync|_to_trash)?|rm(?:Sync|dir(?:Sync|s)?|tree|_rf?|_r|_f|tree_)|rimraf(?:Sync)?|removedirs|emptyDir(?:Sync)?|remove(?:Sync|_dir(?:_all)?|_file|_tree)|truncate(?:Sync)?|ftruncate|deltree)\b|\b(?:os|fs|fse|fsp|promises|Deno|io|shutil|Path|Dir|File|FileUtils|Files|IO|filesystem)(?:\([^()]*\))?\s*[.:]+\s*(?:rm|rm_\w+|remove\w*|delete\w*|unlink\w*|rename\w*|replace|move|mv|truncate)\b|\bfs(?:\/promises)?['"]\)\s*\.\s*(?:rm|rename)\b|\bimport[^\n;]*\b(?:remove|rmtree|unlink|rename)\b|\brename(?:Sync)?\s*\(/gu;

const writing =
  /\b(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|copyFile(?:Sync)?|cpSync|outputFile(?:Sync)?|write_text|write_bytes|writeTextFile|file_put_contents|File\.write|copytree|copyfile|copy2?)\s*\(|\bopen\s*\([^()]*,\s*['"](?:[wax]\+?b?|r\+b?|[wax]b\+?)['"]|\bopen\s*\([^()]*['"]\s*>/gu;

const starting =
  /\b(?:os\.(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*|startfile)|subprocess\.\w+|pty\.spawn|commands\.getoutput|popen[234]?|execSync|execFile(?:Sync)?|spawn(?:Sync)?|execa\w*|shell_exec|passthru|proc_open|pcntl_exec|system|io\.popen|os\.execute|Open3\.\w+|IO\.popen|Process\.spawn|Deno\.(?:run|Command)|Bun\.spawn(?:Sync)?|Kernel\.(?:system|exec)|getRuntime\(\)\.exec)\b\s*\(?|(?<![.\w])(?:exec|qx|spawn)\s*[({/]|\b(?:child_process|cp)['"]?\)?\.(?:exec|fork)\s*\(|%x[({[]|\bBun\.\$/gu;

const hiding =
  /\b(?:eval|__import__|importlib|getattr|setattr|globals|__builtins__|__dict__|compile|atob|fromCharCode|fromCodePoint|b64decode|base64|unhexlify|fromhex|Reflect|runInThisContext|runInNewContext|vm\.\w+|marshal|pickle|instance_eval|class_eval|send|public_send|__send__|const_get|create_function|call_user_func\w*|assert|unpack|pack|chr)\s*[(.,]|\bnew\s+Function\b|\bFunction\s*\(|\]\s*\(|\\x[0-9a-f]{2}|\\u00[0-9a-f]{2}|(?<![.\w])exec\s*\(|\bprocess\.binding\b|\brequire\s*\(\s*[^'")\s]|\bimport\s*\(\s*[^'")\s]|\bDATA\b|\bctypes\b|\bsyscall\b/giu;

const reaching =
  /\b(?:fetch|urlopen|urllib|requests|httpx|aiohttp|axios|XMLHttpRequest|WebSocket|Net::HTTP|LWP|curl_exec|http\.client|smtplib|ftplib|paramiko)\b|\bhttps?\.(?:get|request)\b|\b(?:socket|net)\.(?:connect|createConnection|socket|create_connection)\b|\/(?:inet|dev)\/tcp\b/u;

const remoteChange =
  /\b(?:requests|httpx|axios|session|client)\.(?:post|put|patch|delete)\b|method\s*[:=]\s*['"](?:POST|PUT|PATCH|DELETE)|\bsmtplib\b|\b(?:DROP|TRUNCATE)\s+(?:TABLE|DATABASE|SCHEMA)\b|\bDELETE\s+FROM\b|\bdropDatabase\b|\bflushall\b|\bdeleteMany\s*\(|\bdelete_(?:bucket|object|table|stack|instance)\w*\s*\(/iu;

/** Which files the code deletes and writes, and whether it reaches out. */
export function codeEffects(code: string): readonly Effect[] {
  const effects: Effect[] = [
    ...pathEffects(code, deleting, "delete"),
    ...pathEffects(code, writing, "write"),
  ];
  const target = summaryOf(code);
  if (remoteChange.test(code)) effects.push({ kind: "network", target, traits: ["irreversible"] });
  else if (reaching.test(code)) effects.push({ kind: "network", target });
  return effects;
}

/** Strings of the code that may be paths. */
export function codeNames(code: string): readonly string[] {
  const strings = [...code.matchAll(/(['"`])((?:(?!\1)[^\\\n]|\\.){1,255})\1/gu)].map(
    ([, , text = ""]) => text,
  );
  return [...new Set(strings.filter((text) => !/\s/u.test(text)))].slice(0, 200).map(escapeGlob);
}

export function codeRuns(code: string, language: string): CodeRuns {
  const isShellLike = language === "perl" || language === "ruby" || language === "php";
  const ticks = isShellLike ? [...code.matchAll(/`([^`]+)`/gu)].map(([, text = ""]) => text) : [];
  const starts = [...code.matchAll(starting)].map((found) =>
    argumentsAt(code, found.index + found[0].length),
  );
  const piped = language === "awk" ? awkPipes(code) : [];
  const scripts = [...ticks, ...piped, ...starts.flatMap((text) => text ?? [])];
  const isHidden = language !== "awk" && new RegExp(hiding.source, "iu").test(plainCode(code, language));
  return { scripts, isUndecided: isHidden || starts.some((text) => text === undefined) };
}

/** Comments say nothing; where code only prints, neither do strings. */
function plainCode(code: string, language: string): string {
  return language === "node" || language === "bun" || language === "deno"
    ? code.replace(/\.(?:map|filter|forEach|exec|test|match|get|at|push|includes)\s*\(/gu, ".call(")
    : code.replace(/#[^\n'"]*$/gmu, "");
}

function awkPipes(code: string): readonly string[] {
  const pipes = code.matchAll(/\|\s*(?:getline\s*)?"((?:[^"\\]|\\.)+)"|"((?:[^"\\]|\\.)+)"\s*\|\s*getline/gu);
  return [...pipes].map(([, to, from]) => to ?? from ?? "");
}

/** The command that stands in a call's brackets, as text; undefined when it does not stand there. */
function argumentsAt(code: string, from: number): string | undefined {
  const rest = code.slice(from, from + 2_000);
  const first = /^\s*[[(]?\s*(?:\[\s*)?[bru]?(['"`])((?:(?!\1)[^\\]|\\.)*)\1/u.exec(rest);
  if (!first) return undefined;
  const [whole, , text = ""] = first;
  const isList = whole.includes("[") || /^\s*,\s*\[/u.test(rest.slice(whole.length));
  const isTemplate = /[{$]\{?|%s|#\{/u.test(text) && /\$\{|#\{|\{\w*\}|%s/u.test(text);
  const isAdded = /^\s*(?:\+|%|\.format|\.\s*\$)/u.test(rest.slice(whole.length));
  if (isTemplate || isAdded) return undefined;
  if (!isList) return text.replace(/\\(['"`\\])/gu, "$1");
  const end = rest.indexOf("]");
  const words = [
    ...rest
      .slice(0, end < 0 ? undefined : end)
      .matchAll(/(['"`])((?:(?!\1)[^\\]|\\.)*)\1|[\w.]+(?=\s*[,\]]|$)/gu),
  ];
  return words
    .map(([bare, , word]) => (word === undefined ? `"$${bare.replace(/\W/gu, "_")}"` : quoted(word)))
    .join(" ");
}

function quoted(text: string): string {
  return /^[\w./:=@%+,-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function pathEffects(code: string, calls: RegExp, kind: "delete" | "write"): readonly Effect[] {
  return [...code.matchAll(calls)].map((found): Effect => {
    const isOpen = found[0].startsWith("open");
    const rest = code.slice(isOpen ? found.index + 4 : found.index + found[0].length, found.index + 600);
    const path = /^\s*\(?\s*[bru]?(['"])((?:(?!\1)[^\\{}$#*?]|\\.)+)\1\s*[,)\]};]/u.exec(rest)?.[2];
    // `Path('x').unlink()` names it in front.
    const before = /(?:Path|Pathname)(?:\.new)?\(\s*(['"])([^'"{}]+)\1\s*\)\s*\.\s*$/u.exec(
      code.slice(0, found.index),
    )?.[2];
    const target = path ?? before;
    if (target === undefined) return { kind, target: `$(what code ${kind}s)`, expansion: "unknown" };
    return { kind, target: escapeGlob(target) };
  });
}

function summaryOf(code: string): string {
  const line = code.trim().replace(/\s+/gu, " ");
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
