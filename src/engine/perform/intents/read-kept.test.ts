import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { keptText } from "../../../../test/harness/kept-text.ts";
import { parseKeptUri, type KeptPage } from "../../../catalog/exposure/kept-uri.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import { slices } from "../../../kernel/runtime/slices.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { createSpillFiles } from "../../../store/files/file-store.ts";
import { createKeptResults } from "../../results/kept-results.ts";
import { readKept } from "./read-kept.ts";

const person = (id: string): Principal => ({
  id: id as PrincipalId,
  team: null,
  roles: [],
  scopes: [],
  user: null,
  via: "config",
});
const anna = person("anna");
const bert = person("bert");
const text = Array.from({ length: 60 }, (_, n) => `line ${n} of the log\n`).join("");

/** Keeps the text for Anna, and reads it as a tool unless told otherwise. Nothing is large enough for a file. */
function keeping() {
  const clock = createManualClock();
  const keptResults = createKeptResults({
    files: createSpillFiles("/nonexistent/toolyard-results", () => undefined),
    clock,
    limits: () => ({ keepMs: 60_000, memoryBytes: 1_000_000, diskBytes: 0 }),
  });
  const id = keptResults.keep(anna.id, keptText(text, 100));
  const read = async (page: KeptPage, principal = anna, as: "tool" | "native" = "tool", of = id) => {
    const { result } = await readKept({ keptResults, slices }, { kind: "kept", id: of, page, as }, principal);
    return result as { content?: { type: string; text: string }[]; contents?: Record<string, string>[] };
  };
  return { id, clock, read, [Symbol.asyncDispose]: () => keptResults[Symbol.asyncDispose]() };
}

const refusalOf = async (reading: Promise<unknown>): Promise<GatewayError> => {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  if (!(error instanceof GatewayError)) throw new Error("it was not refused");
  return error;
};

test("following each page's note leads through the whole text, and ends", async () => {
  await using kept = keeping();
  let page: KeptPage | undefined = { kind: "part", part: 1 };
  const parts: string[] = [];
  // A page that led to itself would never end.
  while (page !== undefined && parts.length < 100) {
    const { content = [] } = await kept.read(page);
    const [note, part] = content.map((block) => block.text);
    parts.push(part ?? "");
    const next = / Next: (\S+)\n$/.exec(note ?? "")?.[1];
    page = next === undefined ? undefined : parseKeptUri(next)?.page;
  }
  expect(parts.length).toBeGreaterThan(3);
  expect(parts.join("")).toBe(text);
});

test("a search gives the lines with their numbers, and the note leads to the line after the last", async () => {
  await using kept = keeping();
  const first = await kept.read({ kind: "match", text: "LOG", fromLine: 1 });
  const [note = "", lines = ""] = (first.content ?? []).map((block) => block.text);
  expect(lines.startsWith("1: line 0 of the log\n2: line 1 of the log\n")).toBe(true);
  const next = parseKeptUri(/ Next: (\S+)\n$/.exec(note)?.[1] ?? "");
  expect(next).toEqual({ id: kept.id, page: { kind: "match", text: "LOG", fromLine: lines.split("\n").length + 1 } });
});

test.each<[string, KeptPage, string]>([
  ["a part behind the last", { kind: "part", part: 999 }, "There is no part 999"],
  ["a word that no line has", { kind: "match", text: "zebra", fromLine: 1 }, 'There are no lines with "zebra"'],
])("%s is answered with the note alone, without an empty text behind it", async (_what, page, said) => {
  await using kept = keeping();
  const { content = [] } = await kept.read(page);
  expect(content).toHaveLength(1);
  expect(content[0]?.type).toBe("text");
  expect(content[0]?.text).toContain(said);
  expect(content[0]?.text).not.toContain("Next:");
});

test("read as a resource, text and note are contents under the URI that was asked for", async () => {
  await using kept = keeping();
  const result = await kept.read({ kind: "part", part: 2 }, anna, "native");
  expect(result.content).toBeUndefined();
  expect(result.contents).toHaveLength(2);
  for (const one of result.contents ?? [])
    expect(one).toMatchObject({ uri: `toolyard://result/${kept.id}?part=2`, mimeType: "text/plain" });
  expect(text).toContain(result.contents?.[0]?.["text"]);
  expect(result.contents?.[1]?.["text"]).toMatch(/^Part 2 of \d+\./);
});

test("what is somebody else's, was never there or is over is refused in the same words", async () => {
  await using kept = keeping();
  const page = { kind: "part", part: 1 } as const;
  const foreign = await refusalOf(kept.read(page, bert));
  expect(foreign.code).toBe("RESOURCE_UNKNOWN");
  expect(foreign.hint).toContain("Call the tool again");
  const other = "x".repeat(22);
  const never = await refusalOf(kept.read(page, anna, "tool", other));
  expect(never.message.replace(other, kept.id)).toBe(foreign.message);
  expect(never.hint).toBe(foreign.hint);
  await kept.clock.advance(60_000);
  const over = await refusalOf(kept.read(page));
  expect([over.message, over.hint]).toEqual([foreign.message, foreign.hint]);
});
