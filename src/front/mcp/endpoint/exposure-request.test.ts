import { describe, expect, test } from "vitest";
import { readClientMessage, type ClientRequest } from "../../../wire/mcp/client-message.ts";
import { readComplete, readPromptsGet, readResourcesRead, readToolsCall } from "./exposure-request.ts";

function request(method: string, params: string | undefined): ClientRequest {
  const rest = params === undefined ? "" : `,"params":${params}`;
  const message = readClientMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}"${rest}}`), 20);
  if (message.kind !== "request") throw new Error("it is a request");
  return message;
}

describe("a call of a tool", () => {
  test("has its arguments as the client wrote them, and as a value", () => {
    const { name, arguments: given } = readToolsCall(
      request("tools/call", '{"name":"t","arguments":{ "n": 1.50, "id": 12345678901234567890 }}'),
    );
    expect(name).toBe("t");
    expect(given.bytes?.toString()).toBe('{ "n": 1.50, "id": 12345678901234567890 }');
    expect(given.value).toMatchObject({ n: 1.5 });
  });

  test.each(["", ',"arguments":null', ',"arguments":[]'])(
    "with%s no arguments sends none, and is checked as an empty object",
    (none) => {
      const { arguments: given } = readToolsCall(request("tools/call", `{"name":""${none}}`));
      expect(given.bytes).toBeUndefined();
      expect(given.value).toEqual({});
    },
  );

  test.each(["[1]", '"{}"', "1", "false"])("cannot have %s as arguments", (args) => {
    expect(() => readToolsCall(request("tools/call", `{"name":"t","arguments":${args}}`))).toThrow(
      expect.objectContaining({ code: "PARAMS_INVALID", message: "arguments must be an object" }),
    );
  });
});

describe("what a request needs is named when it is not there:", () => {
  test.each([
    ["tools/call", readToolsCall, "params.name, a string", ["{}", '{"name":1}', '{"name":null}']],
    ["resources/read", readResourcesRead, "params.uri, a string", ["{}", '{"uri":["a"]}']],
    ["prompts/get", readPromptsGet, "params.name, a string", ["{}", '{"name":{}}']],
    ["completion/complete", readComplete, "params.ref, an object", ["{}", '{"ref":"x"}', '{"ref":[]}', '{"ref":null}']],
  ] as const)("%s", (method, read, needs, bodies) => {
    for (const params of [undefined, ...bodies])
      expect(() => read(request(method, params))).toThrow(
        expect.objectContaining({ code: "PARAMS_INVALID", message: `${method} needs ${needs}` }),
      );
  });
});

test("arguments of a prompt are passed on as they were written, and may be left out", () => {
  const given = readPromptsGet(request("prompts/get", '{"name":"p","arguments":{"a": "1"}}'));
  expect(given.arguments?.toString()).toBe('{"a": "1"}');
  expect(readPromptsGet(request("prompts/get", '{"name":"p"}')).arguments).toBeUndefined();
});
