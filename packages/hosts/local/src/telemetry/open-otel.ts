/** Open OTel: the exporter of a session and its subagents; loaded only if `LATHE_TELEMETRY=otlp`. */
import { randomUUID } from "node:crypto";
import { type Exporter, openExporter } from "@lathe/telemetry/otel";
import { knownTools } from "@lathe/tools/known";
import type { LocalOptions } from "../local-options.ts";
import { openRedactor } from "./open-redactor.ts";
import { otelSettings } from "./otel-settings.ts";

export function openOtel(options: LocalOptions): Exporter {
  const { env, version } = options;
  const { remarks, attributes, ...settings } = otelSettings(env);
  for (const text of remarks) options.onRemark?.(text);
  const known = new Set([...knownTools, ...(options.tools ?? [])].map(({ name }) => name));
  const servers = Object.keys(options.mcpServers ?? {});
  const redactor = openRedactor(options);
  return openExporter({
    ...settings,
    isTool: (name) => known.has(name) || servers.some((server) => name.startsWith(`mcp__${server}__`)),
    redact: redactor.redact,
    now: Date.now,
    source: {
      version,
      resource: {
        "service.name": "lathe",
        ...attributes,
        "service.version": version,
        "service.instance.id": randomUUID(),
      },
    },
  });
}
