/** Examine a call: its shell scripts read until nothing is left to look up, and the facts that its effects ask for. */
import { type CommandEffects, commandEffects, isWanting, type Known, readScript } from "@lathe/policy";
import {
  type Effect,
  type Facts,
  findReading,
  isFailure,
  onlyReads,
  type PreparedCall,
  type ShellScript,
} from "@lathe/protocol";
import type { AgentPorts } from "./agent.ts";
import { type Asking, gatherFacts } from "./gather-facts.ts";

type Reached = Pick<AgentPorts, "workspace" | "sandbox" | "containment" | "surroundings" | "syntax">;

export interface ExaminedCall {
  readonly effects: readonly Effect[];
  readonly facts: Facts;
  /** Of a call with a script: what each command of it does. */
  readonly parts: CommandEffects["parts"];
}

export async function examineCall(
  { effects, script }: Pick<PreparedCall, "effects" | "script">,
  asking: Asking,
  ports: Reached,
): Promise<ExaminedCall> {
  const read = script && (await readEffects(script, ports));
  const all = read ? [...read.effects, ...effects] : await placed(effects, ports);
  return { effects: all, facts: await gatherFacts(all, asking, ports), parts: read?.parts ?? [] };
}

/** What a tool reads is judged by every name it has: as it was asked for, as commands call it, and as what it really is. */
async function placed(effects: readonly Effect[], ports: Reached): Promise<readonly Effect[]> {
  if (!onlyReads(effects)) return effects;
  const { root } = ports.workspace;
  const all = await Promise.all(
    effects.map(async (effect): Promise<readonly Effect[]> => {
      const { target } = effect;
      const found = await findReading(target, ports);
      if (isFailure(found)) return [effect];
      const { path, place, isOutside } = found;
      if (!place && target === `${root}/${path}`) return [effect];
      const others = place ? [place.asked, ...(isOutside ? [place.name] : [])] : [];
      return [...new Set([target, ...others, path])].map((name) => ({ ...effect, target: name }));
    }),
  );
  return all.flat();
}

/** Scripts within scripts, files and aliases are asked for one after the other; what is left over counts as undecided. */
const mostRounds = 24;

async function readEffects({ text, folder }: ShellScript, ports: Reached): Promise<CommandEffects> {
  let known: Known = { scripts: new Map(), files: new Map() };
  for (let round = 0; ; round++) {
    const found = commandEffects(text, folder, known);
    if (!isWanting(found.wanted) || round === mostRounds) return found;
    known = await lookedUp(known, found.wanted, ports);
  }
}

async function lookedUp(known: Known, wanted: CommandEffects["wanted"], ports: Reached): Promise<Known> {
  const { syntax, surroundings } = ports;
  const scripts = new Map(known.scripts);
  for (const text of wanted.scripts) {
    const tree = await syntax.parse("bash", text);
    scripts.set(text, readScript(tree));
    tree.close();
  }
  const files = new Map(known.files);
  for (const path of wanted.files) files.set(path, await surroundings.text(path));
  const gitAliases = wanted.gitAliases ? await surroundings.gitAliases() : known.gitAliases;
  return { scripts, files, ...(gitAliases && { gitAliases }) };
}
