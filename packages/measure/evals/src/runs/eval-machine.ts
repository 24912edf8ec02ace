/** Eval machine: what runs of tasks need of the machine they are made on; the host gives it. */
import type { Failure, ForkLayers, Git } from "@lathe/protocol";
import type { OpenShell } from "../shell.ts";
import type { Views } from "../trials/workplace.ts";

export interface EvalShell extends OpenShell {
  /** What a person should know of its sandbox. */
  readonly remark?: string;
}

/** What commands reach: hosts by their rules, or with `open` whatever the machine does. */
export type NetworkReach = { readonly hosts: readonly string[] } | "open";

export interface ShellWanted {
  readonly reach: NetworkReach;
  /** The folder is seen as a view of it. */
  readonly layers?: ForkLayers | undefined;
  /** Its package managers find which registries the user has. */
  readonly installs?: boolean;
  /** Folders beside it whose files may be a project's. */
  readonly projects?: readonly string[];
}

export interface SetUpPlace {
  /** Where commands write. */
  readonly cwd: string;
  /** Settings below these folders are none of the user's. */
  readonly projects: readonly string[];
}

export interface View {
  readonly root: string;
  readonly layers: ForkLayers;
}

export interface OpenedViews extends Views {
  /** *Contract:* the words that start a program (its absolute path first) in a view. */
  entering(view: View, cwd: string, program: readonly string[]): readonly [string, ...string[]];
}

export interface EvalMachine {
  readonly git: Git;
  /** *Contract:* a sandbox of its own around one folder; a failure where none holds. */
  openShell(folder: string, wanted: ShellWanted): Promise<EvalShell | Failure>;
  /** *Contract:* the registries of the tasks' package managers, and the hosts that were allowed beside them. */
  setUpReach(more: readonly string[] | "open", place: SetUpPlace): Promise<NetworkReach>;
  /** *Contract:* views in the folder, tried before they are given; a failure says why trials work on copies. */
  openViews(folder: string): Promise<OpenedViews | Failure>;
}
