/** The tasks of a `Taskfile.yml` in the usual form: blocks by indentation; other forms are not read. */
export interface Task {
  readonly scripts: string[];
  /** Tasks that it runs. */
  readonly needs: string[];
}

export interface Tasks {
  readonly byName: ReadonlyMap<string, Task>;
  /** Commands outside of tasks. */
  readonly scripts: readonly string[];
  readonly isWhole: boolean;
}

interface Line {
  readonly text: string;
  readonly below: Line[];
}

/** Anchors, includes and files of variables are not followed. */
const unread = /^\s*(?:includes|dotenv|<<|shopt)\s*:|(?::|-)\s+[&*]\w|^\s*dir\s*:\s*\S*(?:\{\{|\.\.)/mu;

export function readTaskfile(text: string): Tasks {
  const top = linesOf(text);
  const named = top.filter((line) => /^tasks\s*:/u.test(line.text)).flatMap(({ below }) => below);
  const byName = new Map(
    named.map((line) => {
      const [, name = "", own = ""] = /^(['"]?[^'"]*?['"]?)\s*:(?:\s+(.*))?$/u.exec(line.text) ?? [];
      const task: Task = { scripts: [], needs: [] };
      read({ text: own, below: line.below }, "cmds", task);
      return [unquoted(name), task] as const;
    }),
  );
  const others: Task = { scripts: [], needs: [] };
  for (const line of top) if (!/^tasks\s*:/u.test(line.text)) read(line, "", others);
  const isBraced = named.some((line) => /:\s*\{(?!\s*(?:task|cmd)\s*:)/u.test(line.text));
  return { byName, scripts: others.scripts, isWhole: !unread.test(text) && !isBraced };
}

function linesOf(text: string): readonly Line[] {
  const root: Line = { text: "", below: [] };
  const open: { readonly indent: number; readonly line: Line }[] = [{ indent: -1, line: root }];
  for (const one of text.split(/\r?\n/u)) {
    const plain = one.trim();
    if (plain === "" || plain.startsWith("#")) continue;
    const isItem = plain.startsWith("- ") && (open.at(-1)?.line.text.endsWith(":") ?? false);
    // A list may have the same indentation as its key.
    const indent = one.length - one.trimStart().length + (isItem || plain.startsWith("- ") ? 0.5 : 0);
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const line: Line = { text: plain, below: [] };
    (open.at(-1)?.line ?? root).below.push(line);
    open.push({ indent, line });
  }
  return root.below;
}

const running: ReadonlySet<string> = new Set("cmds cmd sh defer status preconditions if".split(" "));
const needing: ReadonlySet<string> = new Set(["deps", "task"]);
const structural: ReadonlySet<string> = new Set("vars for matrix".split(" "));

/** Reads the commands on a line; `key` is the field it belongs to. */
function read(line: Line, key: string, task: Task): void {
  const item = line.text.replace(/^(?:-\s+)+/u, "");
  const [, own, rest = ""] = /^([\w-]+):(?:\s+(.*))?$/su.exec(item) ?? [];
  const isKey =
    own !== undefined &&
    (running.has(own) || needing.has(own) || structural.has(own) || rest === "" || key === "vars");
  const isOther = own !== undefined && !isKey && /^[a-z_]+$/u.test(own);
  const at = isKey ? own : key;
  const value = own === undefined || (!isKey && !isOther) ? item : rest;
  if (/^[|>][-+\d]*$/u.test(value)) {
    put(textBelow(line), at, task);
    return;
  }
  if (value !== "" && !isOther) for (const one of valuesIn(value)) put(one.text, one.key ?? at, task);
  for (const one of line.below) read(one, at, task);
}

function put(text: string, key: string, { scripts, needs }: Task): void {
  if (running.has(key)) scripts.push(text);
  if (needing.has(key)) needs.push(text);
}

function textBelow({ below }: Line): string {
  return below.flatMap((line) => [line.text, textBelow(line)].filter((text) => text !== "")).join("\n");
}

/** `[a, b]`, `{task: a}`, or one value. */
function valuesIn(value: string): readonly { readonly text: string; readonly key?: string }[] {
  const list = /^\[(.*)\]$/u.exec(value)?.[1];
  if (list !== undefined) return list.split(/,\s*/u).map((text) => ({ text: unquoted(text) }));
  const [, key, text = ""] = /^\{\s*(task|cmd|sh|defer)\s*:\s*(.*?)\s*(?:,.*)?\}$/u.exec(value) ?? [];
  return [key === undefined ? { text: unquoted(value) } : { key, text: unquoted(text) }];
}

function unquoted(text: string): string {
  const plain = text.trim();
  const [, quote, inner = ""] = /^(['"])([\s\S]*)\1$/u.exec(plain) ?? [];
  if (quote === "'") return inner.replaceAll("''", "'");
  return quote === undefined ? plain : inner.replace(/\\(["\\])/gu, "$1");
}
