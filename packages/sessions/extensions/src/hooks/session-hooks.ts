/** Session hooks: the programs of the project and the user that have a say in one session; loaded where there are any. */
import type {
  CompactionTrigger,
  Decision,
  Facts,
  HookedCall,
  Hooks,
  JudgedFiles,
  Outcome,
  Sandbox,
  Session,
} from "@lathe/protocol";
import { type Holding, holds } from "./hook-condition.ts";
import { type Hook, type HookEvent, hookMatches } from "./hook-settings.ts";
import { type HookedTool, hookedTools } from "./hooked-tools.ts";
import { type HookSaid, runHook } from "./run-hook.ts";

export interface HookedSession extends Pick<Session, "id" | "agent"> {
  readonly settings: Pick<Session["settings"], "mode">;
}

/** What hooks use of a session. */
export interface HookPorts {
  readonly sandbox: Sandbox;
  containment(): Promise<Pick<Facts, "containment" | "uncontainedAllowed">>;
  redact(text: string): Promise<string>;
}

export interface HookPlace {
  readonly cwd: string;
  /** The file of its log. */
  readonly log: string;
  session(): HookedSession;
  readonly ports: HookPorts;
  onRemark(text: string): void;
  /** Ends the turn. */
  cancel(by: string): void;
}

/** What is asked anew before each run: what was trusted once may be written over. */
interface HookTrust {
  /**
   * The files that the project's hooks name, as they are now: its hooks start only while they stay so. Undefined where the
   * hooks are not what they were when they were opened, or not trusted any more.
   */
  trustedFiles(): JudgedFiles | undefined;
  /** Whether what it says may answer in a person's stead. */
  mayAllow(hook: Hook): boolean;
}

type TrustedPlace = HookPlace & { readonly trust: HookTrust };

export interface SessionHooks extends Hooks {
  /** *Contract:* once, before the first words. */
  begun(source: "startup" | "resume"): Promise<void>;
  ended(): Promise<void>;
  /** Why words were not heard; once. */
  refused(): string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

export function openSessionHooks(hooks: readonly Hook[], place: TrustedPlace): SessionHooks {
  const run = runner(hooks, place);
  let context = "";
  let refused: string | undefined;
  const isChild = (): boolean => place.session().agent !== undefined;
  return {
    decide: async (call, decision, signal) => {
      const said = await overTools(call, place, (tool) =>
        run("PreToolUse", { ...tool, tool_use_id: call.id }, signal),
      );
      return said.map(preDecision).reduce(graver, undefined) ?? decision;
    },
    permit: async (call, _decision, signal) => {
      const said = await overTools(call, place, (tool) => run("PermissionRequest", { ...tool }, signal));
      return said.map(permission).reduce(graver, undefined);
    },
    ran: async (call, outcome, signal) => {
      if (outcome.type !== "ok") return outcome;
      const said = await overTools(call, place, (tool) =>
        run(
          "PostToolUse",
          { ...tool, tool_response: responseOf(tool, outcome), tool_use_id: call.id },
          signal,
        ),
      );
      return withWords(outcome, said.flatMap(wordsAfter));
    },
    heard: async (prompt, signal) => {
      const said = await run("UserPromptSubmit", { prompt }, signal);
      const why = signal.aborted ? "it was stopped while it looked at them" : said.flatMap(blockOf)[0];
      if (why !== undefined) {
        refused = why;
        place.onRemark(`a hook does not let these words be heard: ${why}`);
        return undefined;
      }
      const more = [context, ...said.flatMap(contextOf)].filter((text) => text !== "");
      context = "";
      return more.join("\n");
    },
    stopping: async (last, again, signal) => {
      const fields = { stop_hook_active: again, last_assistant_message: last };
      const event = isChild() ? "SubagentStop" : "Stop";
      const said = await run(event, { ...fields, agent_type: place.session().agent }, signal);
      return said.some(({ json }) => json.continue === false) ? undefined : said.flatMap(blockOf)[0];
    },
    compacting: async (trigger, focus, signal) => {
      const said = await run("PreCompact", { trigger, custom_instructions: focus ?? "" }, signal);
      for (const why of said.flatMap(blockOf)) place.onRemark(blockedText(trigger, why));
      const words = said.flatMap(contextOf).join("\n");
      return {
        isBlocked: said.some((one) => blockOf(one).length > 0),
        ...(words !== "" && { focus: words }),
      };
    },
    begun: async (source) => {
      // A subagent is begun by its parent, not by a person.
      if (!isChild()) context = (await run("SessionStart", { source })).flatMap(contextOf).join("\n");
    },
    ended: async () => {
      if (!isChild()) await run("SessionEnd", { reason: "other" });
    },
    refused: () => {
      const why = refused;
      refused = undefined;
      return why;
    },
  };
}

function blockedText(trigger: CompactionTrigger, why: string): string {
  return trigger === "manual"
    ? `a hook does not let the conversation be made shorter: ${why}`
    : `a hook would not have the conversation made shorter (${why}), but it is too long to go on as it is`;
}

type Run = (event: HookEvent, fields: Fields, signal?: AbortSignal) => Promise<readonly HookSaid[]>;

/** All that match at once; each command once. */
function runner(hooks: readonly Hook[], place: TrustedPlace): Run {
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (!told.has(text)) place.onRemark(text);
    told.add(text);
  };
  return async (event, fields, signal) => {
    const name = String(fields.tool_name ?? fields.source ?? fields.trigger ?? "");
    const call = { tool_name: name, tool_input: Object(fields.tool_input) as Fields };
    const holding = ({ condition }: Hook): Holding =>
      condition ? holds(condition, call, place.cwd) : "wholly";
    const written = hooks.filter(
      (one) => one.event === event && hookMatches(one, name) && holding(one) !== "not",
    );
    const judged = judgedFor(written, place);
    if (!judged) tell(changed);
    const matching = judged ? written : written.filter(({ isProjects }) => !isProjects);
    if (matching.length === 0) return [];
    const { containment, uncontainedAllowed } = await place.ports.containment();
    if (containment === "none" && !uncontainedAllowed) {
      tell("hooks do not run: no sandbox works on this machine; `lathe doctor` says how to get one");
      return [];
    }
    const { id, settings } = place.session();
    const input = {
      ...{ session_id: id, transcript_path: place.log, cwd: place.cwd },
      ...{ permission_mode: modeNames[settings.mode], hook_event_name: event },
      ...fields,
    };
    const at = { sandbox: place.ports.sandbox, cwd: place.cwd, input, judged, ...(signal && { signal }) };
    // The user's own comes first, and its say counts for more than the project's.
    const commands = [...new Map(matching.toReversed().map((one) => [one.command, one])).values()];
    return Promise.all(
      commands.map(async (hook) => {
        const ran = await runHook(hook, at);
        // It did not fail: somebody stopped it.
        if (signal?.aborted) return { json: {}, text: "" };
        const said = await redacted(ran, place);
        heed(said, { event, hook, place, tell });
        if (!allows(said, event)) return said;
        const isOfAll = holding(hook) === "wholly";
        if (isOfAll && place.trust.mayAllow(hook)) return said;
        const why = isOfAll ? `anything: ${unknownFiles}` : onlyPart;
        tell(`the ${event} hook \`${hook.command}\` cannot allow ${why}`);
        return { ...said, json: {} };
      }),
    );
  };
}

/** Undefined where hooks of the project must not run; reads no file where none of them would run. */
function judgedFor(hooks: readonly Hook[], { trust }: TrustedPlace): JudgedFiles | undefined {
  return hooks.some(({ isProjects }) => isProjects) ? trust.trustedFiles() : {};
}

interface Heard {
  readonly event: HookEvent;
  readonly hook: Hook;
  readonly place: HookPlace;
  tell(text: string): void;
}

/** What it says to people, and to the turn. */
function heed({ problem, json }: HookSaid, { event, hook, place, tell }: Heard): void {
  if (problem !== undefined) tell(`the ${event} hook \`${hook.command}\` failed: ${problem}`);
  const { systemMessage, continue: goesOn, stopReason } = json;
  if (typeof systemMessage === "string") place.onRemark(systemMessage);
  if (goesOn === false && event !== "Stop" && event !== "SubagentStop")
    place.cancel(`a hook${typeof stopReason === "string" ? `: ${stopReason}` : ""}`);
}

const changed =
  "the hooks of this project have changed since they were trusted, and do not run; `lathe hooks list` shows them, `lathe hooks trust` lets them run";
const unknownFiles =
  "it may run files of the project, which change unasked; what it refuses or asks holds (a hook of yours that names only programs outside the project by their whole paths can allow)";

const onlyPart = 'what its "if" does not name, or may not: a command with others beside it';

function allows(said: HookSaid, event: HookEvent): boolean {
  if (event === "PreToolUse") return preDecision(said)?.verdict === "allow";
  return event === "PermissionRequest" && permission(said)?.verdict === "allow";
}

const modeNames = { auto: "acceptEdits", ask: "default", plan: "plan", "read-only": "plan" } as const;

/** What it says goes to a model and into the log. */
async function redacted(said: HookSaid, { ports }: HookPlace): Promise<HookSaid> {
  const clean = await ports.redact(JSON.stringify(said));
  try {
    return JSON.parse(clean) as HookSaid;
  } catch {
    return { json: {}, text: "", problem: "it said what may not be repeated", isUnread: true };
  }
}

async function overTools(
  call: HookedCall,
  { cwd }: HookPlace,
  run: (tool: HookedTool) => Promise<readonly HookSaid[]>,
): Promise<readonly HookSaid[]> {
  return (await Promise.all(hookedTools(call, cwd).map(run))).flat();
}

const gravity = { allow: 0, ask: 1, deny: 2 } as const;

function graver(one: Decision | undefined, other: Decision | undefined): Decision | undefined {
  if (!one || !other) return one ?? other;
  return gravity[other.verdict] > gravity[one.verdict] ? other : one;
}

function decided(verdict: Decision["verdict"], why: unknown): Decision {
  return { verdict, rule: "hook", why: typeof why === "string" && why !== "" ? why : "a hook says so" };
}

function specificOf({ json }: HookSaid): Fields {
  return Object(json.hookSpecificOutput) as Fields;
}

function preDecision(said: HookSaid): Decision | undefined {
  if (said.blocks !== undefined) return decided("deny", said.blocks);
  const { permissionDecision: word, permissionDecisionReason: why, updatedInput } = specificOf(said);
  if (updatedInput !== undefined && word !== "deny") {
    const wanted = `a hook wants other arguments; call again with: ${JSON.stringify(updatedInput)}`;
    return decided("deny", wanted);
  }
  if (word === "deny" || word === "ask" || word === "allow") return decided(word, why);
  // As it was written in the beginning.
  if (said.json.decision === "block") return decided("deny", said.json.reason);
  if (said.json.decision === "approve") return decided("allow", said.json.reason);
  // It may have been a denial.
  return said.isUnread
    ? decided("ask", `what a hook says of it cannot be read (${said.problem})`)
    : undefined;
}

function permission(said: HookSaid): Decision | undefined {
  if (said.blocks !== undefined) return decided("deny", said.blocks);
  const { behavior, message, updatedInput } = Object(specificOf(said).decision) as Fields;
  if (behavior === "deny") return decided("deny", message);
  return behavior === "allow" && updatedInput === undefined ? decided("allow", message) : undefined;
}

function blockOf({ blocks, json }: HookSaid): readonly string[] {
  if (blocks !== undefined) return [blocks];
  return json.decision === "block" ? [typeof json.reason === "string" ? json.reason : "a hook says so"] : [];
}

function contextOf(said: HookSaid): readonly string[] {
  const { additionalContext } = specificOf(said);
  return [said.text, typeof additionalContext === "string" ? additionalContext : ""].filter(
    (text) => text !== "",
  );
}

/** Words on standard output are for people; a model gets what is meant for it. */
function wordsAfter(said: HookSaid): readonly string[] {
  return [...blockOf(said), ...contextOf({ ...said, text: "" })];
}

function withWords(outcome: Extract<Outcome, { type: "ok" }>, words: readonly string[]): Outcome {
  if (words.length === 0) return outcome;
  return { ...outcome, text: `${outcome.text}\n\n[a hook says: ${words.join("\n")}]` };
}

function responseOf(
  { tool_name: name, tool_input: input }: HookedTool,
  { text, facts }: Extract<Outcome, { type: "ok" }>,
): Fields {
  if (name === "Bash")
    return { stdout: text, stderr: "", exitCode: facts?.exitCode ?? 0, interrupted: false };
  if (name === "Write" || name === "Edit") return { filePath: input.file_path, success: true };
  return { text };
}
