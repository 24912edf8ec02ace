/**
 * A makefile, read without make as far as possible: variables, rules with their recipes, and unknown parts.
 */
import { append } from "../append.ts";
import { makeText } from "./make-text.ts";

export interface MakeRule {
  readonly needs: string[];
  readonly lines: string[];
}

export interface MakeFile {
  readonly rules: Map<string, MakeRule>;
  /** Undefined: set in more than one way. */
  readonly variables: Map<string, string | undefined>;
  /** Files that it includes, as written. */
  readonly includes: string[];
  /** Commands that make runs to compute values. */
  readonly shells: string[];
  /** Each recipe runs as one script. */
  isOneShell: boolean;
  /** Whether all of it was understood. */
  isWhole: boolean;
}

export function emptyMakeFile(): MakeFile {
  return {
    rules: new Map(),
    variables: new Map(),
    includes: [],
    shells: [],
    isOneShell: false,
    isWhole: true,
  };
}

interface Reading {
  readonly file: MakeFile;
  current: readonly MakeRule[];
  /** Open conditionals. */
  depth: number;
  define: { readonly name: string; readonly lines: string[] } | undefined;
}

const assignment = /^([^\s:#=?+!]+)\s*(:{1,3}=|[?+!]?=)\s*(.*)$/u;
const head = /^([^#:=]+?)\s*&?::?(?![:=])\s*([^#;]*)(?:;(.*))?/u;
const targetVariable = /^[^:=#]+:+\s*(?:(?:export|override|private)\s+)*([\w.-]+)\s*(?:::?|[?+!])?=\s*(.*)$/u;

export function readMakeFile(text: string, file: MakeFile): void {
  const reading: Reading = { file, current: [], depth: 0, define: undefined };
  for (const line of text.replace(/\\\r?\n[ \t]*/gu, " ").split(/\r?\n/u)) readLine(line, reading);
}

function readLine(line: string, reading: Reading): void {
  const { file, define } = reading;
  if (define) {
    if (!/^\s*endef\b/u.test(line)) define.lines.push(line);
    else {
      setVariable(define.name, define.lines.join("\n"), reading);
      reading.define = undefined;
    }
    return;
  }
  if (line.startsWith("\t") && reading.current.length > 0) {
    for (const rule of reading.current) rule.lines.push(line.trim());
    return;
  }
  const plain = line.replace(/(?<!\\)#.*$/u, "").trim();
  if (plain === "" || readDirective(plain, reading)) return;
  const own = plain.replace(/^(?:(?:export|override|private)\s+)+/u, "");
  const isSetting = readAssignment(own, reading) || readRule(own, reading);
  if (!isSetting && own === plain && !/^\$[({](?:info|warning|error)\b/u.test(own)) file.isWhole = false;
}

function readDirective(line: string, reading: Reading): boolean {
  const { file } = reading;
  const [, word = "", rest = ""] = /^(-?\w+)\b\s*(.*)$/u.exec(line) ?? [];
  if (/^(?:ifeq|ifneq|ifdef|ifndef)$/u.test(word)) reading.depth++;
  else if (word === "endif") reading.depth--;
  else if (/^-?s?include$/u.test(word)) file.includes.push(rest);
  else if (word === "define")
    reading.define = { name: rest.replace(/\s*(?::{0,3}|[?+!])=\s*$/u, ""), lines: [] };
  else if (/^-?load$/u.test(word)) file.isWhole = false;
  else if (!/^(?:else|unexport|vpath|undefine)$/u.test(word)) return false;
  return true;
}

function readAssignment(line: string, reading: Reading): boolean {
  const [, name, operator = "", value = ""] = assignment.exec(line) ?? [];
  if (name === undefined) return false;
  const { file } = reading;
  const known = file.variables.get(name);
  if (operator === "!=") file.shells.push(value);
  if (operator === "!=") file.variables.set(name, undefined);
  else if (operator === "+=") file.variables.set(name, known === undefined ? value : `${known} ${value}`);
  else if (operator !== "?=" || !file.variables.has(name)) setVariable(name, value, reading);
  if (/^(?:\.RECIPEPREFIX|\.SHELLFLAGS)$/u.test(name)) file.isWhole = false;
  reading.current = [];
  return true;
}

/** In a conditional, either value may apply. */
function setVariable(name: string, value: string, { file, depth }: Reading): void {
  const isOther = file.variables.has(name) && file.variables.get(name) !== value;
  file.variables.set(name, depth > 0 && isOther ? undefined : value);
}

function readRule(line: string, reading: Reading): boolean {
  const { file } = reading;
  const [, special, value = ""] = targetVariable.exec(line) ?? [];
  if (special !== undefined) {
    file.variables.set(special, file.variables.has(special) ? undefined : value);
    return true;
  }
  const [, names = "", needs = "", recipe] = head.exec(line) ?? [];
  if (names.trim() === "") return false;
  if (/\$[({](?:eval|guile|call|foreach)\b/u.test(line)) file.isWhole = false;
  // `%.o: %.c` after the names of a static pattern.
  const wanted = words(needs.replace(/^[^:]*%[^:]*:(?!=)/u, "").replaceAll("|", " "), file);
  if (/(?:^|\s)\.ONESHELL(?:\s|$)/u.test(names)) file.isOneShell = true;
  if (/\.SECONDEXPANSION/u.test(names)) file.isWhole = false;
  reading.current = words(names, file).map((name) => ruleOf(name, wanted, file));
  if (recipe !== undefined) for (const rule of reading.current) rule.lines.push(recipe.trim());
  return true;
}

function words(text: string, file: MakeFile): readonly string[] {
  return makeText(text, { file, given: new Map() }).split(/\s+/u).filter(Boolean);
}

function ruleOf(name: string, needs: readonly string[], { rules }: MakeFile): MakeRule {
  const rule = rules.get(name) ?? { needs: [], lines: [] };
  append(rule.needs, needs);
  rules.set(name, rule);
  return rule;
}
