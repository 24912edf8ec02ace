/** Session member: one session of a tree: its tools, the permissions of the others, and its subagents. */
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

/** Most levels below a root session, and most sessions of one tree that one process opens. */
const maxDepth = 2;
const maxSessions = 100;

/** Runs a subagent for a member; loaded when first used. */
export type RunSubagent = (
  task: SubagentTask,
  context: ToolContext,
  member: SessionMember,
) => Promise<Outcome>;

/** The state of a tree while this process has it open. */
interface Tree {
  readonly host: SessionHost;
  readonly agents: readonly SubagentDefinition[];
  readonly run: RunSubagent;
  /** The refusals in each of its sessions, including ended ones. */
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
  /** *Contract:* resolves once its session is closed. */
  stop(): Promise<void>;
}

export interface SessionMember {
  readonly depth: number;
  readonly parent?: SessionMember;
  /** Absent for a person's session. */
  readonly origin?: SessionOrigin;
  readonly agents: readonly SubagentDefinition[];
  readonly tools: readonly Tool[];
  /** The tools it may have among those that are not built in. */
  held(tools: readonly Tool[]): readonly Tool[];
  /** Definitions that were skipped and why, one sentence each. */
  readonly remarks: readonly string[];
  /** *Contract:* call it once, before the session runs. */
  attach(self: Self): void;
  self(): Self;
  treePermissions(): TreePermissions;
  /** *Contract:* loads the sessions of earlier processes; call it before the session runs. */
  recall(): Promise<void>;
  /** A member for a subagent's session; a failure if the tree may not grow. */
  grow(agent: SubagentDefinition, session: string): SessionMember | Failure;
  /** Running subagents, by the ID of their call. */
  readonly running: Map<string, Running>;
}

/**
 * The root of a tree: a person's session, or with `origin` the part of another tree that this process runs.
 */
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

/** The tools that only a person's session has. */
function personalTools(
  host: SessionHost,
  { attended, widest }: Pick<SessionOptions, "attended" | "widest">,
  self: () => Self,
): readonly Tool[] {
  const plan = createPlan(host.plans(() => self().session(), widest));
  // Without a person to agree, the model cannot propose facts to remember.
  return attended ? [plan, createRemember({ add: host.remember })] : [plan];
}

/** Tools that a subagent does not inherit from its parent. */
const personal: ReadonlySet<string> = new Set([toolNames.task, toolNames.plan, toolNames.remember]);

interface MemberOptions {
  readonly depth: number;
  /** The tools it may have, without `task`. */
  readonly tools: readonly Tool[];
  /** The tools that only a person's session has. */
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

/** Asks again about calls refused before the person's last message, as in a session without subagents. */
function refusedSince({ refusals, updatedAt }: Refused, spokenAt: number): readonly Refusal[] {
  return updatedAt >= spokenAt ? refusals : refusals.map((one) => ({ ...one, isOld: true }));
}

/** Permissions granted to the sessions above also hold below: those sessions delegated the work. */
function heldAbove(parent: SessionMember | undefined): TreePermissions {
  if (!parent) return noTreePermissions;
  const { rules, grants } = parent.self().session();
  const above = parent.treePermissions();
  return { refusals: [], rules: [...above.rules, ...rules], grants: [...above.grants, ...grants] };
}

/** Loads the refusals of subagent sessions that no longer run from their logs. */
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
