/**
 * Effects of code in other languages, by the calls recognized in its text; code that hides a call counts as
 * more serious.
 */
import { type Effect, quoteWordIfNeeded } from "@lathe/protocol";
import { escapeGlob } from "../globs/shell-glob.ts";
import { namedHost } from "../programs/named-host.ts";
import { decodeAnsiC } from "../shell/ansi-c.ts";
import { isConstructing, isHidingInFile } from "./constructed-runs.ts";
import { sedRuns } from "./sed-runs.ts";

export interface CodeRuns {
  /** Commands it starts, if their text is in the code. */
  readonly scripts: readonly string[];
  /** It starts a program that cannot be determined. */
  readonly isUndecided: boolean;
}

const deleting =
  /\b(?:unlink(?:Sync|_to_trash)?|rm(?:Sync|dir(?:Sync|s)?|tree|_rf?|_r|_f|tree_)|rimraf(?:Sync)?|removedirs|emptyDir(?:Sync)?|RemoveAll|remove(?:Sync|_dir(?:_all)?|_file|_tree)|truncate(?:Sync)?|ftruncate|deltree)\b|\b(?:os|fs|fse|fsp|promises|Deno|io|shutil|Path|Dir|File|FileUtils|Files|IO|filesystem)(?:\([^()]*\))?\s*[.:]+\s*(?:rm|rm_\w+|[Rr]emove\w*|delete\w*|unlink\w*|rename\w*|replace|move|mv|truncate)\b|\bfs(?:\/promises)?['"]\)\s*\.\s*(?:rm|rename)\b|\bimport[^\n;]*\b(?:remove|rmtree|unlink|rename)\b|\brename(?:Sync)?\s*\(|(?<![.\w])rm\s*(?=\()/gu;

const writing =
  /\b(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|copyFile(?:Sync)?|cpSync|outputFile(?:Sync)?|write_text|write_bytes|writeTextFile|file_put_contents|File\.write|copytree|copyfile|copy2?)\s*\(|\bopen\s*\([^()]*,\s*['"](?:[wax]\+?b?|r\+b?|[wax]b\+?)['"]|\bopen\s*\([^()]*['"]\s*>/gu;

const starting =
  /\b(?:os\.(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*|startfile)|subprocess\.\w+|asyncio\.create_subprocess_\w+|pty\.spawn|commands\.getoutput|popen[234]?|execSync|execFile(?:Sync)?|spawn(?:Sync)?|execa\w*|shell_exec|passthru|proc_open|pcntl_exec|system|io\.popen|os\.execute|Open3\.\w+|IO\.popen|Process\.spawn|Deno\.(?:run|Command)|Bun\.spawn(?:Sync)?|Kernel\.(?:system|exec)|getRuntime\(\)\.exec|exec\.Command(?:Context)?|Process\.Start|e?syscmd|execl[pe]*|execv[pe]*)\b\s*\(?|(?<![.\w])(?:exec|qx|spawn)\s*[({/]|\b(?:child_process|cp)['"]?\)?\.(?:exec|fork)\s*\(|(?<![.\w])(?:exec|system)\s+(?=['"@$]|q[qwx]?\W)|(?<=\bsubprocess\b[\s\S]*)\b\w+\.(?:call|run|Popen|check_call|check_output|getoutput|getstatusoutput)\s*\(|%x[({[]|\bBun\.\$/gu;

const hiding =
  /\b(?:eval|__import__|importlib|getattr|setattr|globals|__builtins__|__dict__|compile|atob|fromCharCode|fromCodePoint|b64decode|base64|unhexlify|fromhex|Reflect|runInThisContext|runInNewContext|vm\.\w+|marshal|pickle|instance_eval|class_eval|send|public_send|__send__|const_get|create_function|call_user_func\w*|unpack|pack|chr)\s*[(.,]|\bnew\s+Function\b|\bFunction\s*\(|\]\s*\(|\\x[0-9a-f]{2}|\\u00[0-9a-f]{2}|(?<![.\w])exec\s*\(|\bprocess\.binding\b|\brequire\s*\(\s*[^'")\s]|\bimport\s*\(\s*[^'")\s]|\b__DATA__\b|\bctypes\b|\bCommand::new\b|\bProcessBuilder\b|\bsyscall\b|\bfrom\s+(?:subprocess|os|pty)\s+import\s+(?!path\b|environ\b|getcwd\b|listdir\b|walk\b|sep\b|linesep\b|cpu_count\b|getenv\b)/giu;

const reaching =
  /\b(?:fetch|urlopen|urllib(?!\.parse)|requests|httpx|aiohttp|axios|XMLHttpRequest|WebSocket|Net::HTTP|LWP|curl_exec|http\.client|smtplib|ftplib|paramiko|file_get_contents|fsockopen|curl_init|IO::Socket|open-uri|URI\.open|TCPSocket|UDPSocket|HttpClient|WebClient|TcpStream|dgram|undici|superagent|getaddrinfo|gethostbyname|create_connection|createConnection)\b|['"](?:net|tls|dns|dgram|http2?|https)['"]\)\s*\.\s*\w+|\bnet\.Dial|\bhttp\.(?:Get|Post|NewRequest)\b|\bdns\.\w+|\bhttps?\.(?:get|request)\b|\b(?:socket|net)\.(?:connect|createConnection|socket|create_connection)\b|\/(?:inet|dev)\/tcp\b/u;

const remoteChange =
  /\b(?:requests|httpx|axios|session|client)\.(?:post|put|patch|delete)\b|method\s*[:=]\s*['"](?:POST|PUT|PATCH|DELETE)|\bsmtplib\b|\b(?:exec\w*|query\w*|run|raw|sql|cursor|prepare)\b\W[\s\S]*\b(?:(?:DROP|TRUNCATE)\s+(?:TABLE|DATABASE|SCHEMA)|DELETE\s+FROM)\b|\bdropDatabase\b|\bflushall\b|\bdeleteMany\s*\(|\bdelete_(?:bucket|object|table|stack|instance)\w*\s*\(/iu;

/** The files that the code deletes and writes, and whether it uses the network. */
export function codeEffects(code: string): readonly Effect[] {
  const effects: Effect[] = [
    ...pathEffects(code, deleting, "delete"),
    ...pathEffects(code, writing, "write"),
  ];
  const target = summaryOf(code);
  if (remoteChange.test(code)) effects.push({ kind: "network", target, traits: ["irreversible"] });
  else if (reaching.test(code)) effects.push({ kind: "network", target });
  if (reaching.test(code)) effects.push(...codeHosts(folded(code)));
  return effects;
}

const address = /\b(?:https?|wss?|ftps?|ssh|tcp):\/\/[^\s'"`]+/giu;
const hostName = /^(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?$|^\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?$/iu;
const connecting =
  /\b(?:socket|net|tls|smtplib|ftplib|paramiko|http\.client|\w*Socket|Net|connect|createConnection|Dial|dns|fsockopen)\b/u;

/** Hosts in the strings of code that uses the network. */
function codeHosts(code: string): readonly Effect[] {
  const strings = [...code.matchAll(/(['"`])((?:(?!\1)[^\\\n]|\\.){1,2000})\1/gu)].map(
    ([, , text = ""]) => text,
  );
  const urls = strings.flatMap((text) => [...text.matchAll(address)].map(([url]) => url));
  const names = connecting.test(code) ? strings.filter((text) => hostName.test(text)) : [];
  return [...urls, ...names].flatMap(namedHost);
}

/** The code with concatenated strings merged. */
function folded(code: string): string {
  return code.replace(/(['"`])\s*(?:\+|\.\.?)\s*\1/gu, "");
}

/** Strings of the code that may be paths; concatenated strings are merged. */
export function codeNames(text: string): readonly string[] {
  const code = folded(text);
  const strings = [...code.matchAll(/(['"`])((?:(?!\1)[^\\\n]|\\.){1,255})\1/gu)].map(
    ([, , string = ""]) => string,
  );
  return [...new Set(strings.filter((text) => !/\s/u.test(text)))].slice(0, 200).map(escapeGlob);
}

/** `isProject`: a file of the project, in which many ordinary calls look like hiding. */
export function codeRuns(code: string, language: string, isProject: boolean = false): CodeRuns {
  if (language === "sed") return sedRuns(code);
  const isShellLike = language === "perl" || language === "ruby" || language === "php";
  const ticks = isShellLike ? [...code.matchAll(/`([^`]+)`/gu)].map(([, text = ""]) => text) : [];
  const starts = [...code.matchAll(starting)].map((found) =>
    argumentsAt(code, found.index + found[0].length),
  );
  const piped = language === "awk" ? awkPipes(code) : [];
  const scripts = [...ticks, ...piped, ...starts.flatMap((text) => text ?? [])];
  const isForeign =
    /^(?:osascript|pwsh|powershell|expect|tclsh|erl|emacs|sbcl|guile|racket|clojure|groovy|scala|swipl|nu|xonsh)$/u.test(
      language,
    );
  if (isForeign) return { scripts: [], isUndecided: true };
  if (/^(?:n?vim|vi|ex|ed|gdb|lldb|dc)$/u.test(language))
    return { scripts: editorRuns(code), isUndecided: isOtherCode.test(code) };
  const isHidden = language !== "awk" && (isProject ? isHidingInFile(code) : isHiding(code, language));
  const isUntold = starts.some((text) => text === undefined) || isConstructing(code, language);
  return { scripts, isUndecided: isHidden || isUntold };
}

function isHiding(code: string, language: string): boolean {
  if (language === "php" && /\bassert\s*\(/u.test(code)) return true;
  if (/^(?:ruby|perl)$/u.test(language) && /\bDATA\b/u.test(code)) return true;
  return new RegExp(hiding.source, "iu").test(plainCode(code, language));
}

/** Commands of an editor or debugger with more access than its language. */
const isOtherCode =
  /(?:^|[\n|])\s*:?\s*(?:python|python3|py3?|lua|perl|ruby|mzscheme|tcl|guile|script)\b[^\n]*\b(?:system|os|execute|subprocess|popen|exec|spawn|import|require)\b/u;

/** `:!cmd`, `:r !cmd` and `:%!cmd`; `shell cmd` of a debugger. */
function editorRuns(code: string): readonly string[] {
  const runs = code.matchAll(
    /(?:^|[\n|])\s*:?\s*[\d,.$%]*(?:\s*(?:r|w)\s+)?(?:!|(?:platform )?shell\s|pipe\s[^|]*\|)\s*([^\n]+)/gu,
  );
  return [...runs].map(([, command = ""]) => command);
}

/** The code without comments; without strings, too, if it only prints. */
function plainCode(code: string, language: string): string {
  return language === "node" || language === "bun" || language === "deno"
    ? code.replace(/\.(?:map|filter|forEach|exec|test|match|get|at|push|includes)\s*\(/gu, ".call(")
    : code.replace(/#[^\n'"]*$/gmu, "");
}

function awkPipes(code: string): readonly string[] {
  const pipes = code.matchAll(/\|\s*(?:getline\s*)?"((?:[^"\\]|\\.)+)"|"((?:[^"\\]|\\.)+)"\s*\|\s*getline/gu);
  return [...pipes].map(([, to, from]) => to ?? from ?? "");
}

/** The command text inside a call's parentheses; undefined if it is not literal text. */
function argumentsAt(code: string, from: number): string | undefined {
  const rest = code.slice(from, from + 2_000);
  const first = /^\s*[[(]?\s*(?:\[\s*)?[bru]?(['"`])((?:(?!\1)[^\\]|\\.)*)\1/u.exec(rest);
  if (!first) return undefined;
  const [whole, , text = ""] = first;
  const isList = /^[^'"`]*\[/u.test(whole) || /^\s*,\s*\[/u.test(rest.slice(whole.length));
  const isTemplate = /[{$]\{?|%s|#\{/u.test(text) && /\$\{|#\{|\{\w*\}|%s/u.test(text);
  const isMany = /^\s*,\s*['"]/u.test(rest.slice(whole.length));
  const isAdded = /^\s*(?:\+|%|\.format|\.\s*\$)/u.test(rest.slice(whole.length));
  if (isTemplate || isAdded) return undefined;
  if (!isList && !isMany) return decodeAnsiC(text);
  const end = rest.indexOf(isList ? "]" : ")");
  const words = [
    ...rest
      .slice(0, end < 0 ? undefined : end)
      .matchAll(/(['"`])((?:(?!\1)[^\\]|\\.)*)\1|[\w.]+(?=\s*[,\]]|$)/gu),
  ];
  return words
    .map(([bare, , word]) =>
      word === undefined ? `"$${bare.replace(/\W/gu, "_")}"` : quoteWordIfNeeded(word),
    )
    .join(" ");
}

function pathEffects(code: string, calls: RegExp, kind: "delete" | "write"): readonly Effect[] {
  return [...code.matchAll(calls)].map((found): Effect => {
    const isOpen = found[0].startsWith("open");
    const rest = code.slice(isOpen ? found.index + 4 : found.index + found[0].length, found.index + 600);
    const path = /^\s*\(?\s*[bru]?(['"])((?:(?!\1)[^\\{}$#*?]|\\.)+)\1\s*[,)\]};]/u.exec(rest)?.[2];
    // `Path('x').unlink()` has the path before the call.
    const before = /(?:Path|Pathname)(?:\.new)?\(\s*(['"])([^'"{}]+)\1\s*\)\s*\.\s*$/u.exec(
      code.slice(0, found.index),
    )?.[2];
    const target = path ?? before;
    const traits = kind === "write" && !/append|['"]a/iu.test(found[0]) ? (["destroys"] as const) : undefined;
    const effect: Effect =
      target === undefined
        ? { kind, target: `$(what code ${kind}s)`, expansion: "unknown" }
        : { kind, target: escapeGlob(target) };
    return traits ? { ...effect, traits } : effect;
  });
}

function summaryOf(code: string): string {
  const line = code.trim().replace(/\s+/gu, " ");
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
