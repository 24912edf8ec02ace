/**
 * An automaton that reads a text once, character by character, and tracks all places of the pattern it may be
 * at. It caches the following places, so after a few texts a character costs one lookup.
 */
import type { Pattern, TextMatcher } from "./pattern.ts";
import { type Program, programOf } from "./program.ts";

/** Places of the program, after all steps that need no character. */
interface State {
  /** The places that test a character, in order. */
  readonly places: readonly number[];
  readonly accepts: boolean;
  /** No further text leads from here to a match. */
  readonly isDead: boolean;
  /** Following states by the code of the next character. */
  readonly ascii: (State | undefined)[];
  readonly others: Map<number, State>;
}

/** Cache limits; when one is reached, the cache is cleared. */
const maxStates = 1_000;
const maxOthers = 1_000;
const asciiCodes = 128;

export function compileAutomaton(pattern: Pattern): TextMatcher {
  const states = stateSets(programOf(pattern));
  return (text) => {
    let state = states.first();
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code < asciiCodes) state = state.ascii[code] ?? states.after(state, code);
      else {
        const whole = text.codePointAt(at) ?? code;
        if (whole > 0xffff) at += 1;
        state = state.others.get(whole) ?? states.after(state, whole);
      }
      if (state.isDead) return false;
    }
    return state.accepts;
  };
}

interface States {
  first(): State;
  /** Computes the following state, and caches it. */
  after(state: State, code: number): State;
}

function stateSets(program: Program): States {
  const known = new Map<string, State>();
  const placesReached = reach(program);
  const stateAt = (from: readonly number[]): State => {
    const key = from.join(" ");
    const found = known.get(key);
    if (found) return found;
    if (known.size >= maxStates) forget(known);
    const { places, accepts } = placesReached(from);
    const isDead = places.length === 0 && !accepts;
    const ascii = new Array<State | undefined>(asciiCodes).fill(undefined);
    const made = { places, accepts, isDead, ascii, others: new Map<number, State>() };
    known.set(key, made);
    return made;
  };
  let first: State | undefined;
  return {
    first: () => {
      first ??= stateAt([0]);
      return first;
    },
    after: (state, code) => {
      const next = stateAt(stepsAfter(program, state.places, code));
      if (code < asciiCodes) state.ascii[code] = next;
      else if (state.others.size < maxOthers) state.others.set(code, next);
      return next;
    },
  };
}

/** Unlinks states that are still in use from cleared ones. */
function forget(known: Map<string, State>): void {
  for (const { ascii, others } of known.values()) {
    ascii.fill(undefined);
    others.clear();
  }
  known.clear();
}

/** The places after those whose tests the character passes. */
function stepsAfter({ steps, tests }: Program, places: readonly number[], code: number): readonly number[] {
  const after: number[] = [];
  let char: string | undefined;
  for (const at of places) {
    const step = steps[at];
    const test = step && "test" in step ? tests[step.test] : undefined;
    if (typeof test === "number" || test === undefined) {
      if (test === code) after.push(at + 1);
      continue;
    }
    char ??= String.fromCodePoint(code);
    if (test.test(char)) after.push(at + 1);
  }
  return after;
}

interface Reached {
  readonly places: readonly number[];
  readonly accepts: boolean;
}

/** The places reached by steps that test nothing. */
function reach({ steps }: Program): (from: readonly number[]) => Reached {
  const marks = new Uint32Array(steps.length);
  let mark = 0;
  return (from) => {
    mark += 1;
    const open = [...from];
    const places: number[] = [];
    let accepts = false;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const step = steps[at];
      if (!step || marks[at] === mark) continue;
      marks[at] = mark;
      if ("test" in step) places.push(at);
      else if (step.to.length === 0) accepts = true;
      else open.push(...step.to);
    }
    return { places: places.sort((a, b) => a - b), accepts };
  };
}
