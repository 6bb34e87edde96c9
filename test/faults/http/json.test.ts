import { describe, expect, test } from "vitest";
import { failures, type FailureCode } from "../../../src/kernel/failures/failures.ts";
import { badServer, startGateway } from "../../harness/gateway.ts";
import { execute, modernRpc, rpc } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { echoCall, ping, post, useGateway } from "./front.ts";

const gateway = useGateway({}, ["--resources", "--prompts"]);

async function expectError(body: string | Buffer, status: number, code: number, id: unknown = null): Promise<void> {
  const answer = await post(gateway().url, body);
  expect({ status: answer.status, id: answer.json?.id, code: answer.json?.error?.code }).toEqual({ status, id, code });
  expect(answer.json.jsonrpc).toBe("2.0");
  const { data } = answer.json.error;
  const { rpc, hint } = failures[data.code as FailureCode];
  expect(rpc).toBe(code);
  // A hint that names a setting tells its value besides.
  expect(data.hint.replace(/, now [^.]+\.$/, ".")).toBe(hint);
}

test("FAULT 1: an empty body is a parse error", async () => {
  await expectError("", 400, -32700);
  await expectError("  \r\n", 400, -32700);
});

test("FAULT 2: truncated JSON is a parse error, wherever it breaks off", async () => {
  const whole = echoCall('{"a":[1,"\\u00e4"],"b":{"c":null}}');
  for (let end = 1; end < whole.length; end += 7) await expectError(whole.slice(0, end), 400, -32700);
});

test("FAULT 2: MUST: a lone bracket or brace is truncated JSON, in every revision [basic/index]", async () => {
  const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "none"];
  for (const path of ["/mcp", "/mcp/flat", "/mcp/server/bad"])
    for (const revision of revisions)
      for (const body of ["[", "{", " [ ", "[{", `[${ping}`]) {
        const answer = await post(`${gateway().url}${path}`, body, { "mcp-protocol-version": revision });
        expect([path, revision, body, answer.status, answer.json.error.code]).toEqual([
          path,
          revision,
          body,
          400,
          -32700,
        ]);
      }
});

test("FAULT 3: JSON that is no object is an invalid request", async () => {
  for (const body of ["1", "null", '"x"', "true", " -1.5 "]) await expectError(body, 400, -32600);
});

describe("FAULT 4: a batch", () => {
  const batchOf = (count: number): string =>
    `[${Array.from({ length: count }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`).join(",")}]`;
  const old = { "mcp-protocol-version": "2025-03-26" };

  test("is refused where the revision has none", async () => {
    await expectError(batchOf(2), 400, -32600);
    for (const revision of ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "none"]) {
      const answer = await post(gateway().url, batchOf(2), { "mcp-protocol-version": revision });
      expect([answer.status, answer.json.error.code]).toEqual([400, -32600]);
    }
  });

  test("of revision 2025-03-26 is answered, up to 100 messages", async () => {
    const answer = await post(gateway().url, batchOf(100), old);
    expect(answer.json.map((one: { id: number }) => one.id)).toEqual(Array.from({ length: 100 }, (_, id) => id));
    expect((await post(gateway().url, batchOf(101), old)).status).toBe(400);
    expect((await post(gateway().url, "[]", old)).status).toBe(400);
    expect((await post(gateway().url, `${batchOf(2)}x`, old)).json.error.code).toBe(-32700);
    expect((await post(gateway().url, "[1", old)).json.error.code).toBe(-32700);
  });

  test("answers every request in it exactly once, the broken ones too", async () => {
    const parts = [
      ping,
      "1",
      '{"jsonrpc":"2.0","id":"n"}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      echoCall('{"x":9007199254740993}', '"e"'),
      '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}',
      "[]",
    ];
    const { json } = await post(gateway().url, `[${parts.join(" , ")}]`, old);
    expect(json.map((one: { id: unknown; error?: { code: number } }) => [one.id, one.error?.code])).toEqual([
      [1, undefined],
      [null, -32600],
      ["n", -32600],
      ["e", undefined],
      [2, -32600],
      [null, -32600],
    ]);
    expect(json[3].result.content[0].text).toBe('{"x":9007199254740993}');
    expect((await post(gateway().url, '[{"jsonrpc":"2.0","method":"notifications/initialized"}]', old)).status).toBe(
      202,
    );
  });

  test("tells each failure in it by number, code and hint, as a message of its own would", async () => {
    const unknown = '{"jsonrpc":"2.0","id":1,"method":"no/such"}';
    const parts = ["1", unknown, '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}'];
    const { json } = await post(gateway().url, `[${parts.join(",")}]`, old);
    const alone = await post(gateway().url, unknown, old);
    expect(json[1]).toEqual(alone.json);
    const told = (code: FailureCode): object => ({
      code: failures[code].rpc,
      data: { code, hint: failures[code].hint },
    });
    expect(json.map((one: { error: object }) => one.error)).toMatchObject([
      told("REQUEST_INVALID"),
      told("METHOD_UNKNOWN"),
      told("REQUEST_INVALID"),
    ]);
  });
});

describe("FAULT 5: ids", () => {
  test("that are none are refused", async () => {
    for (const id of ["null", "1.5", "{}", "[1]", "true", "1e400"])
      await expectError(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`, 400, -32600);
  });

  test("come back exactly as they were written, and never with another's answer", async () => {
    const ids = [
      "0",
      "-0",
      "1",
      '"1"',
      "1.0",
      "1e3",
      "9007199254740993",
      "9007199254740992",
      '""',
      '"\\u0031"',
      '"ä🙂"',
      '"\\ud800"',
      `"${"x".repeat(10_240)}"`,
    ];
    const answers = await Promise.all(
      ids.map(async (id) => await post(gateway().url, echoCall(JSON.stringify({ sent: id }), id))),
    );
    for (const [index, id] of ids.entries()) {
      expect(answers[index]?.text.startsWith(`{"jsonrpc":"2.0","id":${id},`)).toBe(true);
      expect(answers[index]?.json.result.structuredContent).toEqual({ sent: id });
    }
  });

  test("given twice count by the last", async () => {
    expect((await post(gateway().url, '{"id":1,"jsonrpc":"2.0","id":"two","method":"ping"}')).json.id).toBe("two");
  });

  test("a message without one is a notification, and is not answered", async () => {
    const answer = await post(gateway().url, '{"jsonrpc":"2.0","method":"ping"}');
    expect([answer.status, answer.text]).toEqual([202, ""]);
  });
});

test("FAULT 6: the same id twice in flight is answered twice, each with its own", async () => {
  const call = (n: number): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_mcp_tool","arguments":{"tool_path":"bad:echo","arguments":{"n":${n}}}}}`;
  const init = await post(
    gateway().url,
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
  );
  const session = { "mcp-session-id": String(init.headers["mcp-session-id"]) };
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => await post(gateway().url, call(n), n % 2 === 0 ? session : {})),
  );
  expect(answers.map((answer) => [answer.json.id, answer.json.result.structuredContent.n])).toEqual(
    Array.from({ length: 20 }, (_, n) => [1, n]),
  );
});

describe("FAULT 7: methods", () => {
  test("that are no name are an invalid request", async () => {
    for (const method of ["5", '""', "null", "{}", "[]", "true"])
      await expectError(`{"jsonrpc":"2.0","id":3,"method":${method}}`, 400, -32600, 3);
  });

  test("that nobody has are unknown: HTTP 200 for legacy clients, 404 for modern ones", async () => {
    for (const method of [
      "x".repeat(10_240),
      "__proto__",
      "constructor",
      "toString",
      "tools/list ",
      "Tools/List",
      "server/discover",
    ]) {
      await expectError(`{"jsonrpc":"2.0","id":4,"method":${JSON.stringify(method)}}`, 200, -32601, 4);
    }
    for (const method of ["y".repeat(5_000), "__proto__", "constructor", "hasOwnProperty", "initialize", "ping"]) {
      const answer = await modernRpc(`${gateway().url}/mcp`, method);
      expect([method.slice(0, 20), answer.status, answer.json.error.code]).toEqual([method.slice(0, 20), 404, -32601]);
    }
  });
});

test("FAULT 8: params that are no object are invalid params, and so are members of the wrong type", async () => {
  for (const params of ['["a"]', "[null]", '"x"', "1", "true"])
    await expectError(`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":${params}}`, 400, -32602, 5);
  const wrong: readonly (readonly [string, object])[] = [
    ["tools/call", {}],
    ["tools/call", { name: 5 }],
    ["tools/call", { name: "execute_mcp_tool", arguments: ["x"] }],
    ["tools/call", { name: "execute_mcp_tool", arguments: "x" }],
    ["tools/list", { cursor: 5 }],
    ["tools/list", { cursor: "invented" }],
    ["resources/read", {}],
    ["resources/read", { uri: ["x"] }],
    ["prompts/get", { name: {} }],
    ["prompts/get", { name: "bad-greeting", arguments: ["x"] }],
    ["completion/complete", { ref: "x" }],
    ["completion/complete", { ref: { type: "ref/prompt" } }],
    ["logging/setLevel", { level: "loud" }],
    ["resources/subscribe", { uri: "x" }],
  ];
  for (const [method, params] of wrong) {
    const answer = await rpc(`${gateway().url}/mcp`, method, params);
    expect([method, answer.status, answer.json.error?.code]).toEqual([method, 200, -32602]);
  }
});

describe("FAULT 14: nesting", () => {
  const nested = (levels: number): string => echoCall(`${"[".repeat(levels)}${"]".repeat(levels)}`);

  test("beyond 64 levels is refused before it is parsed", async () => {
    for (const levels of [65, 5_000, 1_000_000]) await expectError(nested(levels), 400, -31102);
    await expectError("[".repeat(1_000_000), 400, -31102);
    await expectError(`{"a":${'{"a":'.repeat(700_000)}`, 400, -31102);
    const open = await post(gateway().url, "[".repeat(1_000_000), { "mcp-protocol-version": "2025-03-26" });
    expect(open.status).toBe(400);
  });

  test("of 64 levels reaches the server", async () => {
    // Four levels are the message's own.
    const args = `{"a":${"[".repeat(60)}${"]".repeat(60)}}`;
    const answer = await post(gateway().url, echoCall(args));
    expect(answer.json.result.content[0].text).toBe(args);
    await expectError(echoCall(`{"a":${"[".repeat(61)}${"]".repeat(61)}}`), 400, -31102);
  });
});

test("FAULT 15: hostile keys go to the server as plain data, and change nothing here", async () => {
  const hostile =
    '{"__proto__":{"admin":true,"isError":true},"constructor":{"prototype":{"admin":true}},"toString":"x","hasOwnProperty":1,"then":"y"}';
  expect((await post(gateway().url, echoCall(hostile))).json.result.content[0].text).toBe(hostile);
  const around = `{"jsonrpc":"2.0","id":1,"__proto__":{"method":"x"},"method":"tools/call","params":{"__proto__":{"name":"x"},"name":"execute_mcp_tool","arguments":{"__proto__":{"tool_path":"bad:exit"},"tool_path":"bad:echo","arguments":{}}}}`;
  expect((await post(gateway().url, around)).json.result.content[0].text).toBe("{}");
  for (const name of [
    "__proto__",
    "constructor",
    "toString",
    "bad:__proto__",
    "__proto__:echo",
    "constructor:prototype",
  ]) {
    const result = await execute(gateway().url, name);
    expect([name, result.isError, JSON.parse(result.content[0].text).code]).toEqual([
      name,
      true,
      expect.stringMatching(/^(TOOL_UNKNOWN|SERVER_UNKNOWN)$/),
    ]);
  }
  expect((await rpc(`${gateway().url}/mcp/server/__proto__`, "tools/list")).status).toBe(404);
  expect((await rpc(`${gateway().url}/mcp/server/constructor`, "tools/list")).json.error.code).toBe(-31003);
  const plain = await execute(gateway().url, "bad:echo", {});
  expect(plain.isError).toBeUndefined();
});

test("FAULT 16: of duplicate keys the last wins, for the check and for the server", async () => {
  const echoed = async (args: string): Promise<string> =>
    (await post(gateway().url, echoCall(args))).json.result.content[0].text;
  expect(await echoed('{"a":1,"a":2}')).toBe('{"a":2}');
  expect(await echoed('{"a":1,"\\u0061":9007199254740993,"b":{"c":[{"d":1,"d":-0}]}}')).toBe(
    '{"\\u0061":9007199254740993,"b":{"c":[{"d":-0}]}}',
  );
  const strict = (args: string): string => echoCall(args).replace("bad:echo", "bad:strict");
  expect(
    (await post(gateway().url, strict('{"name":"n","count":1,"count":"one"}'))).json.result.content[0].text,
  ).toContain("ARGUMENTS_INVALID");
  expect(
    (await post(gateway().url, strict('{"name":"n","count":"one","count":1}'))).json.result.isError,
  ).toBeUndefined();
  const paths =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"discover_mcp_tools","name":"execute_mcp_tool","arguments":{"tool_path":"bad:exit","tool\\u005fpath":"bad:echo","arguments":{"n":1},"arguments":{"n":2}}}}';
  expect((await post(gateway().url, paths)).json.result.content[0].text).toBe('{"n":2}');
});

test("FAULT 16: of duplicate keys the last wins in a call that is passed on because no list has its tool", async () => {
  await using hiding = await startGateway({ config: { mcpServers: { bad: badServer("--behaviours", "pid") } } });
  await until(async () => (await execute(hiding.url, "bad:pid")).isError === undefined);
  const params = '{"name":"delete","name":"echo","arguments":{"id":1,"id":9007199254740993}}';
  const { result } = (await rpc(`${hiding.url}/mcp/server/bad`, "tools/call", params)).json;
  expect(result.content[0].text).toBe('{"id":9007199254740993}');
});

test("FAULT 16: another spelling of what decides is refused, wherever it comes in", async () => {
  const params =
    '{"name":"execute_mcp_tool","arguments":{"tool_path":"bad:echo"},"Name":"delete","Arguments":{"id":1}}';
  for (const path of ["/mcp", "/mcp/flat", "/mcp/server/bad"]) {
    const { error } = (await rpc(`${gateway().url}${path}`, "tools/call", params)).json;
    expect([path, error.code, error.message]).toEqual([path, -32602, expect.stringContaining('"Name"')]);
  }
});

test("FAULT 17: bytes that are no text are refused; text passes byte for byte", async () => {
  const around = (bytes: readonly number[]): Buffer => {
    const [before, after] = echoCall('{"a":"HERE"}').split("HERE") as [string, string];
    return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
  };
  for (const bytes of [
    [0xff],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xc3],
    [0xf5, 0x80, 0x80, 0x80],
    [0x00],
    [0x0a],
    [0x1f],
  ])
    await expectError(around(bytes), 400, -32700);
  await expectError(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(ping)]), 400, -32700);
  await expectError(Buffer.from(ping, "utf16le"), 400, -32700);
  for (const text of ['"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\u00E4ä🙂\\/\\u2028\u2028\ufeff\u202e"']) {
    const args = `{"a":${text},${text}:1}`;
    expect((await post(gateway().url, echoCall(args))).json.result.content[0].text).toBe(args);
  }
});

test("FAULT 18: numbers that JavaScript alters reach the server as they were written", async () => {
  const numbers = '{"a":1e400,"b":-0,"c":9007199254740993,"d":1.0,"e":0.1000000000000000055511151231257827,"f":-1E+5}';
  const direct = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${numbers}}}`;
  const answers = [await post(gateway().url, echoCall(numbers)), await post(`${gateway().url}/mcp/server/bad`, direct)];
  for (const answer of answers) {
    expect(answer.json.result.content[0].text).toBe(numbers);
    expect(answer.text).toContain(`"structuredContent":${numbers}`);
  }
});
