/** The permission modes as an editor shows them. */
import type { SessionModeState } from "@agentclientprotocol/sdk";
import type { Mode } from "@lathe/protocol";

const availableModes: readonly { readonly id: Mode; readonly name: string; readonly description: string }[] =
  [
    { id: "ask", name: "Ask", description: "Asks before files are changed and commands run" },
    {
      id: "auto",
      name: "Auto",
      description: "What the sandbox and the checkpoints make harmless happens unasked",
    },
    { id: "plan", name: "Plan", description: "Only reads, to plan first" },
    { id: "read-only", name: "Read only", description: "Only reads" },
  ];

export function sessionModes(current: Mode): SessionModeState {
  return { currentModeId: current, availableModes: [...availableModes] };
}

export function modeOf(id: string): Mode | undefined {
  return availableModes.find((mode) => mode.id === id)?.id;
}
