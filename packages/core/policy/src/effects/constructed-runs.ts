/**
 * Detects code of other languages that constructs a command before it runs it, without literal text to read.
 */

/** Languages in which running a command needs no parentheses. */
const bare =
  /(?<![.\w$@%:>\\-])(?:exec|system|spawn)\s+(?![=~<>!?:,;)\]}]|is\b|of\b|and\b|or\b|if\b|unless\b)[\w(\\&$@{[*%]/u;
/** `open(F, "cmd |")`, `open F, "-|", ...`, `open("|cmd")`, `IO.read("|cmd")`. */
const piping =
  /\bopen\b[^;\n]*['"](?:\s*\||\|?-\|?['"]|[^'"\n]*\|\s*['"])|\b(?:IO|File)\.\w+\s*\(?\s*['"]\|/u;
/** Calls that run any other code or program. */
const running: Readonly<Record<string, RegExp>> = {
  python:
    /\brunpy\.\w+|\bexecfile\s*\(|\bwebbrowser\.(?:get|register)\s*\(|\bcode\.interact\b|\bos\.startfile\b|\bcreate_subprocess_(?:exec|shell)\s*\(\s*(?!['"])/u,
  node: /(?<![.\w])fork\s*\(|\bprocess\.(?:dlopen|execve)\b|\bnew\s+Worker\s*\([^)]*\beval\b/u,
  php: /\b(?:include|require)(?:_once)?\s*\(?\s*(?:['"]data:|\$)|\bpreg_replace\s*\(\s*['"][^'"]*\/\w*e/u,
  ruby: /\bload\s*\(?\s*[^'"\s]|\bKernel\b|\bPTY\.spawn\b|\bOpen3\b\.\w+\s*\(?\s*[^'"(\s]/u,
  perl: /\bdo\s*\(?\s*['"$]|\bIPC::\w+|\brequire\s+\$/u,
};

export function isConstructing(code: string, language: string): boolean {
  if (language === "awk") return isPipingAwk(code);
  const family = language === "bun" || language === "tsx" || language === "ts-node" ? "node" : language;
  const own = Object.hasOwn(running, family) ? running[family] : undefined;
  if (own?.test(code)) return true;
  if (language !== "perl" && language !== "ruby") return false;
  return piping.test(code) || bare.test(withoutStrings(code));
}

/** `print | cmd`, `cmd | getline`: a command in a variable. */
function isPipingAwk(code: string): boolean {
  const plain = withoutStrings(code).replace(/(?<=[~(,!&|{;\n]|^)\s*\/(?:\\.|[^/\\\n])+\//gu, " 0");
  return /(?<!\|)\|&?(?!\|)\s*(?!getline\b)[A-Za-z_(]|[\w)\]]\s*\|&?\s*getline\b|""\s+(?:\w+|"")\s*\|&?\s*getline\b|\|&?\s*""\s*[\w"(]/u.test(
    plain,
  );
}

function withoutStrings(code: string): string {
  return code.replace(/(['"])(?:\\[\s\S]|(?!\1)[^\\\n])*\1/gu, '""').replace(/(?<!\$)#[^\n]*/gu, "");
}

/** Signs of a hidden call in a project file: constructed names, code made from text. */
const hiding =
  /(?<![.\w])(?:eval|exec|execfile|compile|__import__|atob)\s*\(|\bnew\s+Function\b|(?<![.\w])Function\s*\(|\bmarshal\.loads?\b|\b__builtins__\b|\bglobals\(\)\s*\[|\bgetattr\s*\(\s*(?:os|subprocess|builtins|__import__|sys\.modules)\b|\bprocess\.binding\b|\bimportlib\.import_module\s*\(\s*[^'")\s]|\b(?:require|import)\s*\(\s*[^'")\s]|\b(?:require|import)\s*\(\s*(['"])[^'"]*\1\s*\+|\[[^\]\n]*['"`][^\]\n]*\+[^\]\n]*\]\s*\(|\bvm\.(?:run\w+|compileFunction)\b|\bctypes\.(?:CDLL|cdll|util)\b|\b(?:instance_eval|class_eval|const_get|__send__|public_send|create_function|call_user_func\w*)\b|\bsyscall\s*\(|\bfrom\s+(?:subprocess|pty)\s+import\b|\bimport\s+(?:os|subprocess)\s+as\b|\bfrom\s+os\s+import[^\n]*\b(?:system|popen|exec\w*|spawn\w*|posix_spawn)\b/u;

export function isHidingInFile(code: string): boolean {
  return hiding.test(code);
}
