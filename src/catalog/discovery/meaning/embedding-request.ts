import { isJsonObject } from "../../../kernel/text/json-bytes.ts";

/**
 * An OpenAI-compatible endpoint: either its base (`http://localhost:11434/v1`) or the whole URL
 * (`.../v1/embeddings`).
 */
export interface EmbeddingApi {
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly dimensions: number | undefined;
}

/** The longest vector that is accepted. The largest models have 4,096 numbers. */
const vectorLengthLimit = 16_384;
/** 32 texts with the longest vectors, of 24 characters a number. */
const answerByteLimit = 12_582_912;

/**
 * Returns one vector of length 1 per text, in order. Rejects when the endpoint fails or answers anything else.
 * Follows no redirect, so that the API key is never sent to another host.
 */
export async function requestEmbeddings(
  api: EmbeddingApi,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const { model, dimensions, apiKey } = api;
  const response = await fetch(urlOf(api), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ model, input: texts, ...(dimensions === undefined ? {} : { dimensions }) }),
    redirect: "error",
    signal,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the embedding endpoint answered ${response.status}`);
  }
  const tooLong = (): Error => new Error(`the embedding endpoint answered more than ${answerByteLimit} bytes`);
  return readVectors(JSON.parse(await readAnswerText(response, answerByteLimit, tooLong)), texts.length);
}

function urlOf({ url }: EmbeddingApi): string {
  const base = url.replace(/\/+$/, "");
  return base.endsWith("/embeddings") ? base : `${base}/embeddings`;
}

function readVectors(body: unknown, count: number): Float32Array[] {
  const rows: unknown[] = isJsonObject(body) && Array.isArray(body["data"]) ? body["data"] : [];
  const vectors: Float32Array[] = [];
  for (const [place, row] of rows.entries()) {
    if (!isJsonObject(row)) continue;
    const { index = place, embedding } = row;
    const vector = readVector(embedding);
    if (typeof index === "number" && vector !== undefined) vectors[index] = vector;
  }
  const isWhole =
    vectors.length === count &&
    vectors.every((vector) => vector.length === vectors[0]?.length) &&
    Object.keys(vectors).length === count;
  if (!isWhole) throw new Error("the embedding endpoint did not answer one vector per text");
  return vectors;
}

function readVector(value: unknown): Float32Array | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > vectorLengthLimit) return undefined;
  const vector = Float32Array.from(value as number[]);
  let square = 0;
  for (const part of vector) square += part * part;
  if (!(square > 0) || square === Number.POSITIVE_INFINITY) return undefined;
  const length = Math.sqrt(square);
  return vector.map((part) => part / length);
}

/** Reads what an endpoint answers, as UTF-8. Rejects with what `tooLong` makes for more than `limit` bytes. */
export async function readAnswerText(response: Response, limit: number, tooLong: () => Error): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
