import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { createLanguage } from "../../search/language.ts";
import { toWords } from "../../search/language/words.ts";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import { createVectorFile, type VectorFile } from "../../../store/files/vector-file.ts";
import { sampleCatalog } from "../../../../test/sample-catalog.ts";
import { requestEmbeddings } from "./embedding-request.ts";
import { createEmbeddings, type Embeddings } from "./embeddings.ts";
import type { SearchAnswer, SearchRequest } from "../engine.ts";
import { createLexicalEngine } from "../lexical.ts";
import { untilPasses } from "../../../../test/harness/until-passes.ts";

const parts = sampleCatalog();
const never = new AbortController().signal;
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** How the endpoint answers its next requests. */
let mood: "well" | "broken" | "hanging" | "short" | "endless" = "well";
let requests: { readonly authorization: string | undefined; readonly inputs: number }[] = [];
let server: Server;
let folder = "";
let url = "";

beforeEach(async () => {
  mood = "well";
  requests = [];
  folder = await mkdtemp(join(tmpdir(), "toolyard-vectors-"));
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { input: string[] };
      requests.push({ authorization: request.headers.authorization, inputs: input.length });
      if (mood === "hanging") return;
      if (mood === "endless") {
        const send = (): void => void response.write("1,".repeat(500_000), (error) => (error ? undefined : send()));
        response.write('{"data":[');
        send();
        return;
      }
      const data = input.map((text, index) => ({ index, embedding: vectorOf(text) })).slice(mood === "short" ? 1 : 0);
      response
        .writeHead(mood === "broken" ? 503 : 200, { "content-type": "application/json" })
        .end(JSON.stringify({ data: data.reverse() }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

/** A bag of words with one deliberate association: to this model, a "gale" means weather. */
function vectorOf(text: string): number[] {
  const vector = Array.from({ length: 64 }, () => 0.01);
  for (const word of toWords(text)) {
    const known = word === "gale" ? "forecast" : word;
    const at = Array.from(known).reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 64, 7);
    vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}

function vectorFile(): VectorFile {
  return createVectorFile({
    path: join(folder, "vectors.bin"),
    model: "bag",
    onFailure: (error) => expect.unreachable(String(error)),
  });
}

function embeddingsOver(store: VectorFile, deadlineMs = 5_000): Embeddings {
  return createEmbeddings({
    api: { url, model: "bag", apiKey: "k", dimensions: undefined },
    deadlineMs,
    store,
    clock: systemClock,
    log: quiet,
  });
}

async function find(
  embeddings: Embeddings | undefined,
  query: string,
  more: Partial<SearchRequest> = {},
): Promise<SearchAnswer> {
  const engine = createLexicalEngine({
    language: createLanguage(),
    ...(embeddings === undefined ? {} : { embeddings }),
  });
  return await engine.search({ principal: "local" as PrincipalId, parts, query, limit: 10, ...more }, never);
}

async function embedAll(embeddings: Embeddings): Promise<void> {
  embeddings.update(parts.flatMap((part) => part.tools));
  await untilPasses(() => expect(embeddings.missing).toBe(0));
}

test("tools get their vectors in batches, once, and meaning finds what words do not", async () => {
  {
    await using store = vectorFile();
    using embeddings = embeddingsOver(store);
    await embedAll(embeddings);
    const { tools, degraded } = await find(embeddings, "gale");
    expect(degraded).toBeUndefined();
    expect(tools[0]?.tool.path).toBe("weather:get_forecast");
    expect(requests[0]).toEqual({ authorization: "Bearer k", inputs: 9 });
  }
  requests = [];
  await using kept = vectorFile();
  await kept.load();
  using again = embeddingsOver(kept);
  again.update(parts.flatMap((part) => part.tools));
  expect(again.missing).toBe(0);
  expect((await find(again, "gale")).tools[0]?.tool.path).toBe("weather:get_forecast");
  expect(requests).toEqual([{ authorization: "Bearer k", inputs: 1 }]);
});

test("an endpoint that is down, slow or wrong costs meaning, not the answer", async () => {
  await using store = vectorFile();
  using embeddings = embeddingsOver(store, 50);
  await embedAll(embeddings);
  for (const bad of ["broken", "hanging", "short", "endless"] as const) {
    mood = bad;
    const { tools, degraded } = await find(embeddings, `create issue ${bad}`);
    expect(degraded).toBe("embeddings");
    expect(tools[0]?.tool.path).toBe("github:create_issue");
  }
  const api = { url, model: "bag", apiKey: undefined, dimensions: undefined };
  const endless = requestEmbeddings(api, ["x"], AbortSignal.timeout(60_000));
  await expect(endless).rejects.toThrow("more than 12582912 bytes");
});

test("whoever compares gets words alone, or meaning alone and nothing where there is none", async () => {
  await using store = vectorFile();
  using embeddings = embeddingsOver(store);
  await embedAll(embeddings);
  requests = [];
  expect((await find(embeddings, "gale", { only: "words" })).tools).toEqual([]);
  expect(requests).toEqual([]);
  const meant = await find(embeddings, "gale create issue", { only: "meaning", limit: 2 });
  const nearest = await find(embeddings, "gale create issue", { only: "meaning" });
  expect(meant.tools).toEqual(nearest.tools.slice(0, 2));
  expect(nearest.tools.map(({ score }) => score)).toEqual(
    nearest.tools.map(({ score }) => score).toSorted((a, b) => b - a),
  );
  expect(nearest.tools.map(({ tool }) => tool.path)).toContain("weather:get_forecast");
  mood = "broken";
  const without = await find(embeddings, "another gale", { only: "meaning" });
  expect([without.tools, without.match, without.degraded]).toEqual([[], "none", "embeddings"]);
  const never = await find(undefined, "create issue", { only: "meaning" });
  expect([never.tools, never.match, never.degraded]).toEqual([[], "none", "embeddings"]);
  expect((await find(undefined, "create issue", { only: "words" })).tools).not.toEqual([]);
});

test("a failing endpoint is tried again, later and later", async () => {
  await using store = vectorFile();
  const waits: { readonly delayMs: number; readonly run: () => void }[] = [];
  const clock = { after: (delayMs: number, run: () => void) => (waits.push({ delayMs, run }), () => undefined) };
  using embeddings = createEmbeddings({
    api: { url, model: "bag", apiKey: undefined, dimensions: undefined },
    deadlineMs: 100,
    store,
    clock,
    log: quiet,
  });
  mood = "broken";
  embeddings.update(parts.flatMap((part) => part.tools));
  await untilPasses(() => expect(waits).toHaveLength(1));
  waits[0]?.run();
  await untilPasses(() => expect(waits).toHaveLength(2));
  expect(waits.map(({ delayMs }) => delayMs)).toEqual([1_000, 2_000]);
  mood = "well";
  waits[1]?.run();
  await untilPasses(() => expect(embeddings.missing).toBe(0));
});

test("half a record at the end of the file, or another model's file, is not believed", async () => {
  const path = join(folder, "vectors.bin");
  const entry = (letter: string) => ({ hash: letter.repeat(64), vector: Float32Array.of(0.6, 0.8) });
  {
    await using store = vectorFile();
    store.put([entry("a")]);
    store.put([entry("b")]);
  }
  const whole = await readFile(path);
  await writeFile(path, whole.subarray(0, whole.length - 3));
  {
    await using store = vectorFile();
    await store.load();
    expect([...(store.get("a".repeat(64)) ?? [])]).toEqual([...Float32Array.of(0.6, 0.8)]);
    expect(store.get("b".repeat(64))).toBeUndefined();
    store.put([entry("c")]);
  }
  await using mended = vectorFile();
  await mended.load();
  expect(mended.get("c".repeat(64))).toBeDefined();
  const other = createVectorFile({ path, model: "other", onFailure: () => undefined });
  await other.load();
  expect(other.get("a".repeat(64))).toBeUndefined();
});
