/** Follows a script from call to call: what its words become, in which folder, fed with what, and the scripts inside. */

import { codeRuns } from "../effects/code-effects.ts";
import { type FoundCall, isDiverted, type Redirect } from "../programs/found-call.ts";
import type { Inner, Input } from "../programs/inner.ts";
import { languageOf } from "../programs/interpreters.ts";
import { callText, type ProgramCall } from "../programs/program-call.ts";
import { changesOf, fork, join, startIn } from "../shell/environment.ts";
import { expandWord } from "../shell/expand-word.ts";
import { type Known, scriptOf, type Wanted, wants } from "../shell/known.ts";
import type { CallStatement, ShellRedirect, Statement } from "../shell/script.ts";
import { emptyWord, joined, unknown, type Word } from "../shell/word.ts";
import { codeOf, codeOfFile, type FoundCode } from "./code-found.ts";
import { fileText, inputOf, isUnread } from "./file-text.ts";
import { innerOf } from "./inner-scripts.ts";
import { interpreterLine } from "./interpreter-line.ts";
import { noteCodeLinks } from "./links.ts";
import { madeFile, noteMade } from "./made-files.ts";
import { noteCall } from "./note-call.ts";
import { pipedNames } from "./piped-names.ts";
import { outputOf as printed } from "./printed-text.ts";
import { note, record, type Scene, undecided, unfollowed, type Walk } from "./scene.ts";
import { exported, isInherited, setArguments, setVariables } from "./settings.ts";
import { type Assigned, variableRuns } from "./variable-runs.ts";

export interface Followed {
  readonly found: readonly FoundCall[];
  readonly wanted: Wanted;
}

const deepest = 12;
const mostCalls = 3_000;
/** Loops within loops, and functions that call others twice, make very many of a few statements. */
const mostSteps = 20_000;
const mostRounds = 64;

/** Follows a whole script, as one would type it. */
export function followScript(text: string, folder: string, known: Known): Followed {
  const walk: Walk = { known, wanted: wants(), found: [], called: new Set(), steps: 0, last: new Set() };
  const environment = startIn(folder);
  for (const name of ["@", "*"]) environment.variables.set(name, []);
  const scene: Scene = { walk, environment, depth: 0, origin: "typed", input: undefined };
  walkText(text, scene);
  // What is defined and never seen called may be called where nobody looked.
  for (const [name, body] of environment.functions) {
    if (!walk.called.has(name)) walkBody(body, { ...scene, environment: fork(environment), depth: 1 });
  }
  return { found: walk.found, wanted: walk.wanted };
}

function walkText(text: string, scene: Scene): string | undefined {
  if (text.trim() === "") return "";
  const script = scriptOf(text, scene.walk);
  if (scene.depth > deepest || !script) return undecided(text, scene);
  if (!script.isWhole) undecided(text, scene);
  return walkBody(script.statements, scene);
}

/** The text it prints, when that is known. */
function walkBody(body: readonly Statement[], scene: Scene): string | undefined {
  let output: string | undefined = "";
  for (const statement of body) {
    const text = walkStatement(statement, scene);
    output = output === undefined || text === undefined ? undefined : output + text;
  }
  return output;
}

function isTooLong({ found, steps }: Walk): boolean {
  return found.length > mostCalls || steps > mostSteps;
}

function walkStatement(statement: Statement, scene: Scene): string | undefined {
  const { environment, walk } = scene;
  walk.steps += 1;
  if (isTooLong(walk)) {
    // Each call is still named once, as undecided.
    if (walk.last.has(statement)) return undefined;
    walk.last.add(statement);
  }
  switch (statement.type) {
    case "call":
      return walkCall(statement, scene);
    case "pipeline":
      return walkPipeline(statement.parts, scene);
    case "chain":
      return walkChain(statement, scene);
    case "branches":
      return walkBranches(statement.bodies, scene);
    case "loop":
      return walkLoop(statement, scene);
    case "group":
      return walkGroup(statement, scene);
    case "function": {
      const known = environment.functions.get(statement.name);
      environment.functions.set(statement.name, known ? [...known, ...statement.body] : statement.body);
      return "";
    }
  }
}

function walkPipeline(parts: readonly Statement[], scene: Scene): string | undefined {
  let { input } = scene;
  let text: string | undefined;
  for (const [i, part] of parts.entries()) {
    const isFeeding = scene.isFeeding === true || parts.slice(i + 1).some(takesNames);
    const before = scene.walk.found.length;
    text = walkStatement(part, { ...scene, environment: fork(scene.environment), input, isFeeding });
    input = { text, names: pipedNames(scene.walk.found.slice(before), input) };
  }
  return text;
}

function takesNames(part: Statement): boolean {
  if (part.type === "call") return /^(?:xargs|parallel)$/u.test(part.words[0]?.raw ?? "");
  return part.type === "loop" || part.type === "group";
}

function walkChain(
  { left, right, operator }: Extract<Statement, { type: "chain" }>,
  scene: Scene,
): string | undefined {
  const first = walkBody(left, scene);
  const before = fork(scene.environment);
  const second = walkBody(right, scene);
  // After `&&` the folder is where the whole chain led to: what follows is meant for that case.
  if (operator === "&&") before.folder = scene.environment.folder;
  join(scene.environment, [before]);
  return first === undefined || second === undefined ? undefined : first + second;
}

function walkBranches(bodies: readonly (readonly Statement[])[], scene: Scene): undefined {
  const ends = bodies.map((body) => {
    const environment = fork(scene.environment);
    walkBody(body, { ...scene, environment });
    return environment;
  });
  join(scene.environment, ends);
}

function walkLoop(loop: Extract<Statement, { type: "loop" }>, scene: Scene): undefined {
  const { environment } = scene;
  const { variable, values, body } = loop;
  const words = values?.flatMap((value) => expand(value, scene));
  const before = fork(environment);
  if (variable !== undefined && words && words.length <= mostRounds) {
    for (const word of words) {
      environment.variables.set(variable, [word]);
      walkBody(body, scene);
    }
  } else {
    if (variable !== undefined) environment.variables.set(variable, [unknown(variable)]);
    walkBody(body, scene);
  }
  // A next round begins with what this one has set.
  const changed = changesOf(before, environment);
  const isSettled = changed.every((name) => name === variable);
  join(environment, [before]);
  if (!isSettled && words?.length !== 0) {
    if (variable !== undefined && words?.length === 1 && words[0])
      environment.variables.set(variable, [words[0]]);
    walkBody(body, scene);
    join(environment, [before]);
  }
}

function walkGroup(statement: Extract<Statement, { type: "group" }>, scene: Scene): string | undefined {
  const redirects = redirectsOf(statement.redirects, scene);
  if (redirects.length > 0) record([], { redirects, assignments: [], raw: "" }, scene);
  const environment = statement.isSubshell ? fork(scene.environment) : scene.environment;
  const input = inputOf(redirects, scene) ?? scene.input;
  const text = walkBody(statement.body, { ...scene, environment, input });
  return redirects.some(isDiverted) ? "" : text;
}

function expand(word: Parameters<typeof expandWord>[0], scene: Scene): readonly Word[] {
  const { environment } = scene;
  return expandWord(word, environment, (body, isPipe) => {
    // A script that a file is a pipe to may be fed with anything.
    const input = isPipe ? { text: undefined } : scene.input;
    const depth = scene.depth + 1;
    return walkBody(body, { ...scene, environment: fork(environment), input, depth, isFeeding: !isPipe });
  });
}

function redirectsOf(redirects: readonly ShellRedirect[], scene: Scene): readonly Redirect[] {
  return redirects.flatMap(({ operator, target, descriptor }) => {
    const words = expand(target, scene);
    const isText = operator === "<<" || operator === "<<<";
    if (isText)
      return [{ operator, target: words.length === 1 && words[0] ? words[0] : (joined(words) ?? emptyWord) }];
    return words.map((word) => ({ operator, target: word, descriptor }));
  });
}

function walkCall(statement: CallStatement, scene: Scene): string | undefined {
  const { walk, environment, depth } = scene;
  if (isTooLong(walk) || depth > deepest) return undecided(statement.raw, scene);
  const words = statement.words.flatMap((word) => expand(word, scene));
  const redirects = redirectsOf(statement.redirects, scene);
  const assigned = assign(statement, words, scene);
  const assignments = statement.assignments.map(({ raw }) => raw);
  if (words.length === 0) walkVariables(assigned.filter(isInherited(environment)), [], scene);
  if (words.length === 0 && redirects.length === 0) return "";
  const input = inputOf(redirects, scene) ?? scene.input;
  const call = record(words, { redirects, assignments, raw: statement.raw }, { ...scene, input });
  const next: Scene = { ...scene, depth: depth + 1, input };
  const programs = call.calls.map(({ program }) => program);
  if (words.length > 0) walkVariables([...assigned, ...exported(words, environment)], programs, next);
  const putBack = setVariables(environment, assigned);
  const ofFunction = walkFunction(words, next);
  for (const one of call.calls) walkProgram(one, next);
  putBack();
  noteCall(call, environment);
  const [only] = call.calls;
  const printing = call.calls.length === 1 && only ? printed(only, input?.text) : undefined;
  const text = ofFunction ? ofFunction.text : printing;
  noteMade(call, text, environment);
  return redirects.some(isDiverted) ? "" : text;
}

function walkVariables(assigned: readonly Assigned[], programs: readonly string[], scene: Scene): void {
  for (const one of assigned) for (const inner of variableRuns(one, programs)) walkInner(inner, scene);
}

/** Sets the variables of a command without words, and of `export` and its like. */
function assign(statement: CallStatement, words: readonly Word[], scene: Scene): readonly Assigned[] {
  const { environment } = scene;
  const keeps = words.length === 0 || declaring.has(words[0]?.text ?? "");
  return statement.assignments.flatMap(({ name, values, isPartial }) => {
    const found = values.flatMap((value) => assignedWords(value, scene, values.length === 1));
    // A reference to another variable is not followed.
    const isTold = !isPartial && !(keeps && words.some(({ text }) => /^-\w*n/u.test(text)));
    const known = isTold ? found : [unknown(name)];
    if (keeps) environment.variables.set(name, values.length === 0 ? [emptyWord] : known);
    return found.map((word) => ({ name, word }));
  });
}

const declaring: ReadonlySet<string> = new Set("export declare typeset local readonly".split(" "));

/** A value is neither split nor expanded to files. */
function assignedWords(
  value: Parameters<typeof expandWord>[0],
  scene: Scene,
  isSingle: boolean,
): readonly Word[] {
  if (!isSingle) return expand(value, scene);
  const quoted = value.pieces.map((piece) => (piece.type === "pipe" ? piece : { ...piece, quoted: true }));
  const isHome = value.raw.startsWith("~");
  const words = expand({ ...value, pieces: quoted }, scene);
  return isHome ? words.map((word) => ({ ...word, isLiteral: false })) : words;
}

function walkFunction(words: readonly Word[], scene: Scene): Input | undefined {
  const { environment, walk } = scene;
  const name = words[0]?.text ?? "";
  const alias = environment.aliases.get(name);
  if (alias !== undefined && scene.depth < deepest) {
    walk.called.add(name);
    const rest = words.slice(1).map(({ raw }) => raw);
    const without = fork(environment);
    without.aliases.delete(name);
    walkText([alias, ...rest].join(" "), { ...scene, environment: without });
  }
  const body = environment.functions.get(name);
  if (!body) return undefined;
  walk.called.add(name);
  const putBack = setArguments(environment, words.slice(1));
  const text = walkBody(body, scene);
  putBack();
  return { text };
}

function walkProgram(call: ProgramCall, scene: Scene): void {
  const { walk, environment } = scene;
  const { folder, made, variables } = environment;
  const looking = { known: walk.known, wanted: walk.wanted, folder, made, variables };
  for (const inner of innerOf(call, scene.input, looking)) walkInner(inner, scene);
  walkCode(call, scene);
}

function walkCode(call: ProgramCall, scene: Scene): void {
  for (const found of codeOf(call, scene)) {
    walkFoundCode(found, { program: call.program, raw: callText(call) }, scene);
  }
}

interface Runner {
  readonly program: string;
  readonly raw: string;
}

function walkFoundCode(found: FoundCode, runner: Runner, scene: Scene): void {
  switch (found.type) {
    case "undecided":
      undecided(found.what, scene);
      return;
    case "unfollowed":
      unfollowed(found.what, scene);
      return;
    case "code":
      walkCodeText(found.text, runner, found.isProject ? { ...scene, origin: "project" } : scene);
  }
}

function walkCodeText(code: string, { program, raw }: Runner, scene: Scene): void {
  const { environment, origin } = scene;
  const { scripts, isUndecided } = codeRuns(code, languageOf(program) ?? program, origin === "project");
  noteCodeLinks(code, environment.folder, environment.links);
  note({ raw, code }, scene);
  if (isUndecided) undecided(raw, scene);
  const isDeep = scene.depth >= deepest;
  if (isDeep && scripts.length > 0) undecided(raw, scene);
  for (const script of isDeep ? [] : scripts) {
    walkText(script, { ...scene, environment: fork(environment), depth: scene.depth + 1, input: undefined });
  }
}

function walkInner(inner: Inner, scene: Scene): void {
  switch (inner.type) {
    case "script":
      walkInnerScript(inner, scene);
      return;
    case "words":
      walkWords(inner.words, scene);
      return;
    case "file":
      walkFile(inner, scene);
      return;
    case "code":
      for (const found of codeOfFile(inner.path, scene))
        walkFoundCode(found, { program: inner.program, raw: inner.path.raw }, scene);
      return;
    case "undecided":
      undecided(inner.text, scene);
      return;
    case "unfollowed":
      unfollowed(inner.text, scene);
  }
}

function walkInnerScript(inner: Extract<Inner, { type: "script" }>, scene: Scene): void {
  const own = inner.isOwnShell ? fork(scene.environment) : scene.environment;
  if (inner.args) setArguments(own, inner.args);
  if (inner.folder !== undefined) own.folder = inner.folder;
  walkText(inner.text.text, { ...scene, environment: own, origin: inner.origin ?? scene.origin });
}

function walkWords(words: readonly Word[], scene: Scene): void {
  const call = record(
    words,
    { redirects: [], assignments: [], raw: words.map(({ raw }) => raw).join(" ") },
    scene,
  );
  walkFunction(words, scene);
  if (scene.depth >= deepest) {
    undecided(call.raw, scene);
    return;
  }
  for (const one of call.calls) walkProgram(one, { ...scene, depth: scene.depth + 1 });
}

function walkFile(inner: Extract<Inner, { type: "file" }>, scene: Scene): void {
  const { path, args, isOwnShell, isProgram = false } = inner;
  const { environment, depth } = scene;
  const made = madeFile(path, environment);
  if (made && made.text === undefined) undecided(`the script ${path.raw}`, scene);
  const text = made ? made.text : fileText(path, scene);
  if (text === undefined && !made && isUnread(path, scene)) unfollowed(path.raw, scene);
  if (text === undefined) return;
  if (depth >= deepest) {
    undecided(`the script ${path.raw}`, scene);
    return;
  }
  const runner = isProgram ? interpreterLine(text) : undefined;
  if (runner) {
    walkWords([...runner, path, ...args], { ...scene, depth: depth + 1 });
    return;
  }
  const own = isOwnShell ? fork(environment) : environment;
  setArguments(own, args);
  walkText(text, { ...scene, environment: own, origin: made ? scene.origin : "project", depth: depth + 1 });
}
