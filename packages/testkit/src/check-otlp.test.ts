import assert from "node:assert/strict";
import { it } from "node:test";
import { checkOtlp } from "./check-otlp.ts";

const span = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", name: "x", kind: 1 };
const traces = (more: object) => ({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, ...more }] }] }] });

it("accepts fields of the published schema", () => {
  const attributes = [{ key: "a", value: { arrayValue: { values: [{ intValue: "3" }] } } }];
  const more = { startTimeUnixNano: "1", endTimeUnixNano: "2", attributes, status: { code: 2 } };
  assert.deepEqual(checkOtlp(traces(more), "ExportTraceServiceRequest"), []);
});

it("names fields that are not in the schema", () => {
  const wrong: readonly object[] = [
    { trace_id: "x" },
    { traceId: "CvdlGRbNQ92ESOshHIAxnA==" },
    { spanId: "0000000000000000" },
    { kind: "SPAN_KIND_CLIENT" },
    { kind: 17 },
    { startTimeUnixNano: 12 },
    { attributes: [{ key: "a", value: { intValue: 3 } }] },
    { attributes: { a: 1 } },
    { status: { code: 9 } },
  ];
  for (const more of wrong)
    assert.equal(checkOtlp(traces(more), "ExportTraceServiceRequest").length, 1, JSON.stringify(more));
  assert.equal(checkOtlp({ resourceMetrics: [] }, "ExportTraceServiceRequest").length, 1);
});
