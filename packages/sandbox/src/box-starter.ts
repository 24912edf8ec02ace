/** Starts commands in one warm box, which is made anew when it has died or when what it must show has changed. */
import { join } from "node:path";
import type { SandboxSpec } from "@lathe/protocol";
import type { AgentSource } from "./agent-source.ts";
import { Box } from "./box.ts";
import { BoxProcess } from "./box-process.ts";
import { openPayload, runPayload } from "./box-request.ts";
import type { Policy } from "./policy.ts";
import { rootEnv } from "./root-env.ts";
import type { Running, Starter, StartRequest } from "./running.ts";
import { currentGuards } from "./sandbox-policy.ts";
import { findShell, type Shell, shellArgs } from "./shell.ts";

export interface BoxOptions {
  readonly agents: AgentSource;
  readonly policy: Policy;
}

interface Opened {
  readonly box: Box;
  /** Folders outside that were shown to it. */
  readonly outside: string;
}

export class BoxStarter implements Starter {
  readonly hasTerminals = true;
  readonly isContained = true;
  readonly #spec: SandboxSpec;
  readonly #options: BoxOptions;
  readonly #shell: Shell;
  readonly #env: Readonly<Record<string, string>>;
  /** Every box that may still run something; the last one takes new commands. */
  #boxes: readonly Opened[] = [];
  #scripts = 0;

  constructor(spec: SandboxSpec, options: BoxOptions) {
    this.#spec = spec;
    this.#options = options;
    this.#shell = findShell(spec.env.PATH ?? "");
    this.#env = { ...spec.env, ...rootEnv() };
  }

  async start(request: StartRequest): Promise<Running> {
    const { command, hasInput } = request;
    const { outside, ...guards } = currentGuards(this.#spec);
    const box = this.#box(outside);
    const script = (): string => join(this.#spec.scratch, `script-${process.pid}-${++this.#scripts}.sh`);
    const args = [this.#shell.file, ...shellArgs(this.#shell, command.script, script)];
    const payload = runPayload({ command, args, env: this.#env, hasInput, guards });
    return box.run(payload, (send) => new BoxProcess(request, send));
  }

  async close(): Promise<void> {
    await Promise.all(this.#boxes.map(({ box }) => box.close()));
  }

  #box(outside: readonly string[]): Box {
    const key = outside.join("\0");
    const last = this.#boxes.at(-1);
    if (last?.box.isUsable && last.outside === key) return last.box;
    const { agents, policy } = this.#options;
    const { channel, groups } = agents.take();
    const box = new Box(channel, openPayload(policy, outside, groups));
    for (const old of this.#boxes) if (old.box.isIdle) void old.box.close();
    this.#boxes = [...this.#boxes.filter((old) => old.box.isUsable), { box, outside: key }];
    return box;
  }
}
