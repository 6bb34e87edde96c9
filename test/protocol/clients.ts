import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Era } from "../../src/kernel/call/call-context.ts";

/** What a client was asked, and what it answers. */
export interface AnsweringClient extends AsyncDisposable {
  readonly client: Client;
  /** Every question, in order: its method and params. */
  readonly asked: readonly { readonly method: string; readonly params: Readonly<Record<string, unknown>> }[];
}

export const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

const answers: Readonly<Record<string, object>> = {
  "elicitation/create": { action: "accept", content: { name: "Ada" } },
  "sampling/createMessage": { role: "assistant", content: { type: "text", text: "Paris" }, model: "a-model" },
  "roots/list": { roots: [{ uri: "file:///work", name: "work" }] },
};

const needs: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** The official SDK's client of one era at an endpoint, which answers whatever its capabilities declare. */
export async function connectClient(
  url: string,
  era: Era,
  options: {
    readonly capabilities?: object;
    readonly answers?: Readonly<Record<string, object>>;
    readonly transport?: object;
  } = {},
): Promise<AnsweringClient> {
  const capabilities = options.capabilities ?? everything;
  const mode = era === "modern" ? { versionNegotiation: { mode: "auto" } } : {};
  const client = new Client({ name: "test", version: "1" }, { capabilities, ...mode } as never);
  const asked: { method: string; params: Record<string, unknown> }[] = [];
  for (const [method, answer] of Object.entries({ ...answers, ...options.answers })) {
    if (!Object.hasOwn(capabilities, needs[method] ?? "")) continue;
    client.setRequestHandler(
      method as "roots/list",
      (async ({ params }: { params?: Record<string, unknown> }) => {
        asked.push({ method, params: params ?? {} });
        return answer;
      }) as never,
    );
  }
  await client.connect((options.transport ?? new StreamableHTTPClientTransport(new URL(url))) as never);
  return {
    client,
    asked,
    async [Symbol.asyncDispose]() {
      await client.close();
    },
  };
}
