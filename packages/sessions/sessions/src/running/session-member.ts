/** Session member: one session of a tree of sessions: its tools, what the others of the tree hold, and the subagents it runs. */
import type { SessionOrigin } from "@lathe/agent";
import {
  emptySession,
  type Failure,
  failure,
  fold,
  isFailure,
  noTreePermissions,
  type Outcome,
  type Refusal,
  type Session,
  type SubagentTask,
  type Tool,
  type ToolContext,
  type TreePermissions,
} from "@lathe/protocol";
import { builtinTools, createPlan, createRemember, createSkill, createTask } from "@lathe/tools";
import { toolNames } from "@lathe/tools/known";
import type { SessionHost, SubagentDefinition } from "../host/session-host.ts";
import type { SessionOptions } from "../host/session-options.ts";
import type { PendingApproval } from "./pending-approval.ts";

/** Sessions below each other, and all of one tree that one process opens. */
const maxDepth = 2;
const maxSessions = 100;

/** Runs a subagent for a member; loaded when first used. */
export type RunSubagent = (
  task: SubagentTask,
  context: ToolContext,
  member: SessionMember,
) => Promise<Outcome>;

/** What is known of a tree while this process has it open. */
interface Tree {
  readonly host: SessionHost;
  readonly agents: readonly SubagentDefinition[];
  readonly run: RunSubagent;
  /** What was refused in each of its sessions, also of those that have ended. */
  readonly refusals: Map<string, () => Refused>;
  opened: number;
}

type Refused = Pick<Session, "refusals" | "updatedAt">;

/** A session that is open. */
export interface Self {
  readonly options: SessionOptions;
  session(): Session;
}

export interface Running {
  /** The approval it waits for, as its person sees it. */
  approval(): Promise<PendingApproval | undefined>;
  /** *Contract:* resolves when its session is closed. */
  stop(): Promise<void>;
}

export interface SessionMember {
  readonly depth: number;
  readonly parent?: SessionMember;
  /** Absent for the session of a person. */
  readonly origin?: SessionOrigin;
  readonly agents: readonly SubagentDefinition[];
  readonly tools: readonly Tool[];
  /** What it may have of tools that are not built in. */
  held(tools: readonly Tool[]): readonly Tool[];
  /** What of the files that define things was left out, one sentence each. */
  readonly remarks: readonly string[];
  /** *Contract:* once, before the session runs. */
  attach(self: Self): void;
  self(): Self;
  treePermissions(): TreePermissions;
  /** *Contract:* knows of sessions of earlier processes before the session runs. */
  recall(): Promise<void>;
  /** A member for a session below; a failure where the tree may not grow. */
  grow(agent: SubagentDefinition, session: string): SessionMember | Failure;
  /** Subagents by the call that runs them. */
  readonly running: Map<string, Running>;
}

/** The first of a tree: the session of a person, or with `origin` the part of another tree that this process runs. */
export async function openRoot(
  host: SessionHost,
  options: Pick<SessionOptions, "tools" | "attended" | "widest">,
  { run, origin }: { readonly run: RunSubagent; readonly origin?: SessionOrigin | undefined },
): Promise<SessionMember> {
  const { agents, skills, remarks } = await host.extensions(options.tools ?? []);
  const skill = createSkill(skills);
  const tools = skill ? [...builtinTools, skill] : builtinTools;
  const tree = { host, agents, run, refusals: new Map(), opened: 0 };
  const personal = (self: () => Self): readonly Tool[] => personalTools(host, options, self);
  return openMember(tree, { depth: 0, remarks, tools, personal, ...(origin && { origin }) });
}

/** The tools that only the session of a person has. */
function personalTools(
  host: SessionHost,
  { attended, widest }: Pick<SessionOptions, "attended" | "widest">,
  self: () => Self,
): readonly Tool[] {
  const plan = createPlan(host.plans(() => self().session(), widest));
  // Without a person to agree, nothing is proposed to be remembered.
  return attended ? [plan, createRemember({ add: host.remember })] : [plan];
}

/** What a subagent does not have by its parent. */
const personal: ReadonlySet<string> = new Set([toolNames.task, toolNames.plan, toolNames.remember]);

interface MemberOptions {
  readonly depth: number;
  /** Those it may have, without `task`. */
  readonly tools: readonly Tool[];
  /** Those that only the session of a person has. */
  readonly personal?: (self: () => Self) => readonly Tool[];
  readonly remarks: readonly string[];
  readonly agent?: SubagentDefinition;
  readonly parent?: SessionMember;
  readonly origin?: SessionOrigin;
}

function openMember(tree: Tree, options: MemberOptions): SessionMember {
  const { depth, parent, agent, origin, remarks } = options;
  let attached: Self | undefined;
  const running = new Map<string, Running>();
  const self = (): Self => {
    if (!attached) throw new Error("the session is not open yet");
    return attached;
  };
  const task = createTask({ kinds: tree.agents, run: (asked, context) => tree.run(asked, context, member) });
  const mayTask = depth < maxDepth && (agent === undefined || agent.restrict([task]).length > 0);
  const member: SessionMember = {
    depth,
    remarks,
    agents: tree.agents,
    ...(origin && { origin }),
    ...(parent && { parent }),
    tools: [...options.tools, ...(mayTask ? [task] : []), ...(options.personal?.(self) ?? [])],
    held: (offered) => {
      const above = parent?.held(offered) ?? offered;
      return agent ? agent.restrict(above) : above;
    },
    running,
    self,
    attach: (opened) => {
      attached = opened;
      const { id } = opened.session();
      tree.refusals.set(id, opened.session);
    },
    treePermissions: () => {
      const own = self().session().id;
      const spokenAt = rootOf(member).self().session().turn?.startedAt ?? 0;
      const refusals = [...tree.refusals].flatMap(([id, of]) =>
        id === own ? [] : refusedSince(of(), spokenAt),
      );
      return { ...heldAbove(parent), refusals };
    },
    recall: () => recall(tree, self()),
    grow: (kind, session) => {
      const isNew = !tree.refusals.has(session);
      if (depth >= maxDepth) return refused(`subagents are at most ${maxDepth} deep`);
      if (isNew && tree.opened >= maxSessions) return refused(`${maxSessions} subagents are enough`);
      if (isNew) tree.opened++;
      const { id: of, root = of } = self().session();
      const born = { parent: of, root, agent: kind.name, role: kind.role };
      const tools = kind.restrict(member.tools).filter(({ name }) => !personal.has(name));
      const below = { depth: depth + 1, remarks: [], tools, agent: kind, parent: member, origin: born };
      return openMember(tree, below);
    },
  };
  return member;
}

function refused(why: string): Failure {
  return failure("no-access", `${why}: do it yourself`, { who: "host" });
}

function rootOf(member: SessionMember): SessionMember {
  return member.parent ? rootOf(member.parent) : member;
}

/** What was refused before a person spoke again is asked about again, as in a session alone. */
function refusedSince({ refusals, updatedAt }: Refused, spokenAt: number): readonly Refusal[] {
  return updatedAt >= spokenAt ? refusals : refusals.map((one) => ({ ...one, isOld: true }));
}

/** What those above were allowed for their session holds below, too: they handed the work on. */
function heldAbove(parent: SessionMember | undefined): TreePermissions {
  if (!parent) return noTreePermissions;
  const { rules, grants } = parent.self().session();
  const above = parent.treePermissions();
  return { refusals: [], rules: [...above.rules, ...rules], grants: [...above.grants, ...grants] };
}

/** What was refused in sessions below that no longer run is in their logs. */
async function recall(tree: Tree, { session }: Self): Promise<void> {
  const { store } = tree.host.stores;
  const wanted = [...session().children];
  for (let id = wanted.pop(); id !== undefined; id = wanted.pop()) {
    if (tree.refusals.has(id)) continue;
    tree.opened++;
    const events = await store.read(id);
    const { refusals, updatedAt, children } = isFailure(events) ? emptySession : fold(events);
    tree.refusals.set(id, () => ({ refusals, updatedAt }));
    wanted.push(...children);
  }
}
