import { expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import { sampleView } from "../../../../test/sample-view.ts";
import { noArguments, toCallArguments } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Exposure } from "../exposure.ts";
import { flatExposure } from "../meta/flat.ts";
import { metaExposure } from "../meta/meta.ts";
import { createNamespacesExposure } from "../namespaces/namespaces.ts";
import { resolveRead } from "../native.ts";

const view = sampleView([sampleInstance("my-mail", [{ name: "send" }, { name: "search" }])]);
const namespaces = createNamespacesExposure({ helpTool: () => "toolyard_help" });

const refusalOf = (exposure: Exposure, name: string, given = noArguments): GatewayError =>
  thrownBy(() => exposure.resolve(view, { method: "tools/call", name, arguments: given }));

test("an unknown tool is answered with the names that the endpoint lists, and with a way to see them that it has", () => {
  const executed = toCallArguments(Buffer.from('{"tool_path":"my-mail:sned"}'));
  for (const [exposure, name, given, closest, way] of [
    [metaExposure, "my-mail-sned", noArguments, "my-mail:send", "discover_mcp_tools"],
    [metaExposure, "execute_mcp_tool", executed, "my-mail:send", "discover_mcp_tools"],
    [flatExposure, "discover_mail_sned", noArguments, "my-mail-send", "List the tools"],
    [namespaces, "my_mail__sned", noArguments, "my_mail__send", "toolyard_help"],
  ] as const) {
    const refusal = refusalOf(exposure, name, given);
    expect(refusal).toMatchObject({ code: "TOOL_UNKNOWN", data: { closest: expect.arrayContaining([closest]) } });
    expect(refusal.hint).toContain(way);
  }
});

test("only the four tools are told of the four tools", () => {
  for (const exposure of [flatExposure, namespaces])
    expect(refusalOf(exposure, "discover_mcp_tools").hint).not.toContain("_mcp_");
  for (const [as, way] of [
    ["tool", "list_mcp_resources"],
    ["native", "List the resources"],
  ] as const)
    expect(thrownBy(() => resolveRead(view, "nobody://x", as)).hint).toContain(way);
});

function thrownBy(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error("no failure was thrown");
}
