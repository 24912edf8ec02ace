/**
 * An editor for tests: the official client of the Agent Client Protocol, which checks every line of the agent
 * against the official schema.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Running } from "./lathe.ts";

export interface Editor {
  readonly agent: ClientContext;
  readonly updates: readonly SessionUpdate[];
  readonly permissions: readonly RequestPermissionRequest[];
  /** Resolves with the first update that meets the condition, even an earlier one. */
  told(meets: (update: SessionUpdate) => boolean): Promise<SessionUpdate>;
  /** The agent's messages that violate the schema. */
  readonly wrong: readonly string[];
  /** *Contract:* closes the agent's input and resolves once it has ended. */
  leave(): Promise<number | null>;
}

export interface EditorOptions {
  readonly capabilities?: ClientCapabilities;
  onPermission?(
    request: RequestPermissionRequest,
    signal: AbortSignal,
  ): Promise<RequestPermissionResponse> | RequestPermissionResponse;
  onForm?(request: CreateElicitationRequest): CreateElicitationResponse;
}

interface Schema {
  readonly $defs: Readonly<Record<string, { readonly "x-method"?: string }>>;
}

interface OfficialSchema {
  /** The definition for a method's messages; `end` matches the end of its name. */
  nameOf(method: string, end: RegExp): string | undefined;
  check(name: string): ValidateFunction;
}

let official: OfficialSchema | undefined;

/** Reads the schema once and compiles each definition once: that takes longer than most tests. */
function officialSchema(): OfficialSchema {
  official ??= readSchema();
  return official;
}

function readSchema(): OfficialSchema {
  const path = new URL("../node_modules/@agentclientprotocol/sdk/schema/v1/schema.json", import.meta.url);
  const schema = JSON.parse(readFileSync(path, "utf8")) as Schema;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(schema, "acp");
  const known = new Map<string, ValidateFunction>();
  return {
    nameOf: (method, end) =>
      Object.entries(schema.$defs).find(([name, def]) => def["x-method"] === method && end.test(name))?.[0],
    check(name) {
      const validate = known.get(name) ?? ajv.compile({ $ref: `acp#/$defs/${name}` });
      known.set(name, validate);
      return validate;
    },
  };
}

export async function openEditor(running: Running, options: EditorOptions = {}): Promise<Editor> {
  const updates: SessionUpdate[] = [];
  const permissions: RequestPermissionRequest[] = [];
  const listeners = new Set<() => void>();
  const { stream, wrong } = tapped(running);
  const app = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
      for (const listener of listeners) listener();
    })
    .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
      permissions.push(params);
      return options.onPermission?.(params, signal) ?? { outcome: { outcome: "cancelled" } };
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      return options.onForm?.(params) ?? { action: "decline" };
    });
  const connection = app.connect(stream);
  const { agent } = connection;
  const clientCapabilities = options.capabilities ?? {};
  const greeted = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities,
  });
  assert.equal(greeted.protocolVersion, PROTOCOL_VERSION);
  return {
    agent,
    updates,
    permissions,
    wrong,
    told: (meets) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = updates.find(meets);
          if (!found) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
    leave: async () => {
      running.child.stdin?.end();
      const { code } = await running.ended;
      connection.close();
      return code;
    },
  };
}

type Message = Readonly<Record<string, unknown>>;

function tapped({ child }: Running): { stream: ReturnType<typeof ndJsonStream>; wrong: string[] } {
  const wrong: string[] = [];
  const asked = new Map<unknown, string>();
  const { nameOf, check } = officialSchema();
  const look = (message: Message): void => {
    const { method, id } = message;
    const name =
      typeof method === "string"
        ? nameOf(method, /(?:Request|Notification)$/)
        : nameOf(asked.get(id) ?? "", /Response$/);
    if ("error" in message) return;
    if (name === undefined) return void wrong.push(`nothing in the schema: ${JSON.stringify(message)}`);
    const validate = check(name);
    if (!validate(typeof method === "string" ? message.params : message.result))
      wrong.push(`${name}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(message)}`);
  };
  const encoder = new TextEncoder();
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      child.stdout?.on("data", (text: string) => controller.enqueue(encoder.encode(text)));
      child.stdout?.on("end", () => controller.close());
    },
  });
  const output = new WritableStream<Uint8Array>({ write: (bytes) => void child.stdin?.write(bytes) });
  const { readable, writable } = ndJsonStream(output, input);
  const tap = (hear: (message: Message) => void) =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        hear(message as unknown as Message);
        controller.enqueue(message);
      },
    });
  const sending = tap(({ id, method }) => {
    if (typeof method === "string") asked.set(id, method);
  });
  void sending.readable.pipeTo(writable).catch(() => undefined);
  return { stream: { writable: sending.writable, readable: readable.pipeThrough(tap(look)) }, wrong };
}
