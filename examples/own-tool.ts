/** A custom tool and model: the model is a few lines that need no network, and every event is printed. */
import { defineTool, isFailure, type Model, openSession } from "lathe-agent";

const weather = defineTool<{ readonly city: string }>({
  name: "weather",
  description: "The weather in a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  // The rules apply as to any other call that uses the network.
  effects: () => [{ kind: "network", target: "weather.example:443" }],
  run: ({ city }) => `It rains in ${city}.`,
});

/** Asks for the weather, then repeats the tool's answer. */
const parrot: Model = {
  info: { id: "own/parrot", window: 100_000, maxOutput: 1_000 },
  async *stream({ messages }) {
    const result = messages.at(-1)?.parts.find((part) => part.type === "tool-result");
    if (!result) {
      const call = { type: "tool-call", id: "w1", tool: "weather", input: '{"city":"Bergen"}' } as const;
      yield { type: "finished", reason: "tool-calls", parts: [call] };
      return;
    }
    yield { type: "text-delta", text: result.text };
    yield { type: "finished", reason: "stop", parts: [{ type: "text", text: result.text }] };
  },
};

const session = await openSession({
  model: "own/parrot",
  models: { "own/parrot": parrot },
  tools: [weather],
  onQuestion: ({ call }) => (call?.tool === "weather" ? "allow" : "deny"),
});
if (isFailure(session)) throw new Error(session.text);
const stream = session.stream("How is the weather in Bergen?");
for (let next = await stream.next(); ; next = await stream.next()) {
  if (next.done) {
    console.log(isFailure(next.value) ? next.value.text : `turn: ${next.value.end.type}`);
    break;
  }
  if ("event" in next.value) console.log(`event: ${next.value.event.type}`);
  else if (next.value.delta.type === "text") console.log(`text: ${next.value.delta.text}`);
}
await session.close();
