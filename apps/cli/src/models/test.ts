/** `lathe models test`: sends a real request to each model and shows the result. */
import type { ModelOptions } from "@lathe/hosts/models";
import { type TestedModel, testModels } from "@lathe/hosts/models";
import { duration, money, type Palette, paletteFor, table } from "@lathe/terminal";
import { whileBusy } from "../output/while-busy.ts";
import { interruptions } from "../run/interruptions.ts";
import { circuitText } from "./circuit-text.ts";

export interface TestOptions {
  readonly ids: readonly string[];
  readonly json: boolean;
}

export async function test(options: ModelOptions, { ids, json }: TestOptions): Promise<number> {
  const stop = new AbortController();
  const abort = async (): Promise<undefined> => void stop.abort();
  const watch = interruptions({ cancel: abort, close: abort });
  const tested = await whileBusy("asking", (tell) =>
    testModels(options, {
      ids,
      signal: stop.signal,
      onTested: ({ id }) => process.stderr.isTTY && tell(`${id} is done\n`),
    }),
  ).finally(watch.stop);
  const paint = paletteFor(process.stdout, process.env);
  process.stdout.write(
    json ? `${JSON.stringify(tested, null, 2)}\n` : table(tested.flatMap((one) => rows(one, paint))),
  );
  const works = tested.some(({ state }) => state === "called");
  return watch.code() ?? (works ? 0 : 1);
}

function rows({ circuit, ...tested }: TestedModel, paint: Palette): readonly (readonly string[])[] {
  const before = circuit ? [["", "", paint.dim(circuitBefore(circuit, tested.state !== "failed"))]] : [];
  return [...result(tested, paint), ...before];
}

function circuitBefore(circuit: NonNullable<TestedModel["circuit"]>, answers: boolean): string {
  const text = `sessions found that it ${circuitText(circuit)}`;
  return answers ? `${text}; from now on they use it again` : text;
}

function result(
  { id, state, failure, firstMs, ms, cost }: TestedModel,
  paint: Palette,
): readonly (readonly string[])[] {
  if (failure) return [[paint.red("✗"), paint.bold(id), paint.red(failure.code), failure.text]];
  const times =
    ms === undefined ? "" : `${duration(firstMs ?? ms)} to the first word, ${duration(ms)} in all`;
  const price = ms === undefined || cost !== undefined ? "" : "price unknown";
  const what =
    state === "called" ? "calls tools" : "only writes: it does not call tools, and cannot work here";
  const mark = state === "called" ? paint.green("✓") : paint.yellow("!");
  return [[mark, paint.bold(id), what, times, cost === undefined ? paint.dim(price) : money(cost)]];
}
