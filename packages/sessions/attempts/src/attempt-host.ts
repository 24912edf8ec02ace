/** The attempt host port: what attempts at one task need besides stored sessions. */
import type { AttemptPlace, Failure, Session } from "@lathe/protocol";
import type { SessionHost } from "@lathe/sessions";
import type { Order, Told } from "./orders.ts";
import type { Entrance, Place } from "./place.ts";

/** A process that makes one attempt, judges, or runs tests. */
export interface Child {
  /** *Contract:* resolves once the process ended and its messages were handled; a failure if early. */
  readonly ended: Promise<Failure | undefined>;
  /** *Contract:* the work ends soon and is logged as interrupted; the second time it ends at once. */
  interrupt(): void;
}

export interface NewPlace {
  readonly cwd: string;
  readonly about: string;
  /** The session that compares the attempts. */
  readonly session: string;
  /** The attempt's number, counted from 0. */
  readonly at: number;
  /** How a git working tree treats uncommitted changes. */
  readonly dirty?: DirtyChoice;
}

export type DirtyChoice = "carry" | "leave" | "refuse";

export interface MadePlace {
  readonly place: AttemptPlace;
  readonly open: Place;
  /** Files that the copy lacks, one sentence each; the same for all copies of one folder. */
  readonly remarks?: readonly string[];
}

/** One kind of place, for example copy-on-write forks. */
export interface PlaceMaker {
  /** How many are made at once. */
  readonly atOnce: number;
  /** *Contract:* does the work that only the first place waits for; a failure says why there are none. */
  prepare(): Promise<Failure | undefined>;
  make(wish: NewPlace): Promise<MadePlace | Failure>;
  /** *Contract:* whether programs start in a place that was made; a failure says why not. */
  check(place: Place): Promise<Failure | undefined>;
}

export interface AttemptPlaces {
  /** Whether this process works in a fork, which has no room for working trees. */
  readonly isInFork: boolean;
  readonly forks: PlaceMaker;
  readonly trees: PlaceMaker;
  /** *Contract:* undefined if everything in the folder is committed. */
  refusedDirty(cwd: string): Promise<Failure | undefined>;
  /** *Contract:* finishes removals that were cut off. */
  sweep(): Promise<void>;
  /** *Contract:* undefined for a place that a person has applied or discarded. */
  find(place: AttemptPlace): Place | undefined;
}

/** The tests of the project in a folder. */
export interface ProjectTests {
  /** *Contract:* the command that runs them, found from the project's files; undefined if they name none. */
  find(cwd: string): Promise<string | undefined>;
  /** *Contract:* why the command may not run without asking, in one line; undefined if it may. */
  refusal(cwd: string, command: string): Promise<string | undefined>;
}

export interface AttemptHost {
  readonly sessions: SessionHost;
  readonly places: AttemptPlaces;
  readonly tests: ProjectTests;
  /** *Contract:* why none of these models can be used; undefined if one can. Contacts no server. */
  unknownModel(models: readonly string[]): Promise<Failure | undefined>;
  /** The models, and the router, of a session with these options. */
  chain(models: readonly string[]): Pick<Session["settings"], "models" | "router">;
  /** The command line that starts a program in a folder itself, not in a copy. */
  enter(program: readonly string[], cwd: string): Entrance | Failure;
  /** *Contract:* starts a process that carries out the order; `onTold` gets its messages until it ends. */
  start(entrance: Entrance, order: Order, onTold: (told: Told) => void): Child;
}
