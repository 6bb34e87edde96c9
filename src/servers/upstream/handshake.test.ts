import { describe, expect, test } from "vitest";
import { toJsonBytes } from "../../kernel/text/json-bytes.ts";
import { firstRung } from "./declared-capabilities.ts";
import { initializeParams, isModernError, peerFromDiscover, peerFromInitialize } from "./handshake.ts";

const read = (result: Buffer) => peerFromInitialize("s", result, firstRung, undefined);

describe("what a server says of itself", () => {
  test("initialize: every legacy revision is taken, anything else refused", () => {
    for (const protocolVersion of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
      expect(read(toJsonBytes({ protocolVersion, capabilities: { tools: {} } }))).toMatchObject({
        era: "legacy",
        revision: protocolVersion,
        capabilities: { tools: {} },
        serverInfo: {},
      });
    for (const result of [[], null, "x"])
      expect(() => read(toJsonBytes(result)), JSON.stringify(result)).toThrow(
        expect.objectContaining({ code: "UPSTREAM_PROTOCOL" }),
      );
    for (const result of [
      {},
      { protocolVersion: 1 },
      { protocolVersion: "2026-07-28" },
      { protocolVersion: "1999-01-01" },
    ])
      expect(read(toJsonBytes(result)), JSON.stringify(result)).toMatchObject({
        failure: { code: "UPSTREAM_PROTOCOL" },
      });
  });

  test("members of the wrong type are none", () => {
    expect(
      read(toJsonBytes({ protocolVersion: "2025-11-25", capabilities: [], serverInfo: "x", instructions: {} })),
    ).toMatchObject({ capabilities: {}, serverInfo: {}, instructions: undefined });
  });

  test("server/discover: only a server that lists the modern revision is modern", () => {
    expect(peerFromDiscover(toJsonBytes({ supportedVersions: ["2026-07-28"] }))).toMatchObject({
      era: "modern",
      eras: ["modern"],
    });
    expect(peerFromDiscover(toJsonBytes({ supportedVersions: ["2025-11-25", "2026-07-28"] }))).toMatchObject({
      eras: ["modern", "legacy"],
    });
    for (const result of [
      {},
      [],
      "x",
      { supportedVersions: "2026-07-28" },
      { supportedVersions: [1] },
      { supportedVersions: ["2025-11-25"] },
    ])
      expect(peerFromDiscover(toJsonBytes(result))).toBeUndefined();
    expect(peerFromDiscover(Buffer.from("{broken"))).toBeUndefined();
  });

  test("what nests so deeply that it could not be written again is no answer", () => {
    const deep = Buffer.from(
      `{"protocolVersion":"2025-11-25","capabilities":{"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}}`,
    );
    expect(() => read(deep)).toThrow(expect.objectContaining({ code: "UPSTREAM_PROTOCOL" }));
  });

  test("only a modern server's errors prove its era", () => {
    expect([-32020, -32021, -32022].every((code) => isModernError(code))).toBe(true);
    expect([-32601, -32602, -32000, 0].some((code) => isModernError(code))).toBe(false);
  });

  test("everything that can be bridged is declared to a legacy server, roots only where it has its own", () => {
    const identity = { name: "t", version: "1" };
    const shared = initializeParams(identity, firstRung, undefined);
    expect(shared).toMatchObject({ protocolVersion: "2025-11-25", capabilities: { sampling: {}, elicitation: {} } });
    expect(shared["capabilities"]).not.toHaveProperty("roots");
    const roots = { answer: async () => await Promise.reject(new Error("nobody asks")) };
    expect(initializeParams(identity, firstRung, roots)["capabilities"]).toHaveProperty("roots");
  });
});
