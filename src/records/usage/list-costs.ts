import { flatExposure } from "../../catalog/exposure/meta/flat.ts";
import type { Exposure, Reader } from "../../catalog/exposure/exposure.ts";
import { toListedTool } from "../../catalog/exposure/native.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import type { LazyNames } from "../../catalog/model/names/lazy-names.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { View, ViewServer } from "../../catalog/model/view.ts";
import { textKeyOf, type TextKey, type TokenCounts } from "./token-counts.ts";

/** Tokens of something that a model reads. Exact as o200k counts it, or with an estimate in it. */
export interface TokenSum {
  readonly tokens: number;
  readonly isExact: boolean;
}

export interface ServerCost extends TokenSum {
  readonly server: string;
  readonly tools: number;
  /** Whether its tools have ever been listed. */
  readonly isKnown: boolean;
}

/**
 * What lists of tools cost the model that reads them: `tools/list` and the instructions. Estimates become exact when
 * `count` has resolved.
 */
export interface ListCosts {
  /** Of one exposure, as one kind of client gets it. */
  of(view: View, exposure: Exposure, reader?: ListReader): TokenSum;
  /** Of `/mcp/flat`, which lists every tool. */
  flat(view: View): TokenSum;
  /** What one tool costs there. */
  tool(view: View, server: ViewServer, tool: ToolEntry): TokenSum;
  /** What the tools of each server cost there. Those without tools cost nothing. */
  servers(view: View): readonly ServerCost[];
  /** Reads what was counted before, and looks all tools over, a few at a time: the other methods are fast then. */
  prepare(view: View): Promise<void>;
  /** Counts both lists exactly, away from this thread. Never rejects. */
  count(view: View, exposure: Exposure, reader?: ListReader): Promise<void>;
}

/** Who reads a list, as far as its costs depend on it. */
type ListReader = Pick<Reader, "client" | "pinned">;

interface Priced {
  readonly name: string;
  readonly key: TextKey;
  readonly estimate: number;
}

/** Tools that are written out before others may have a turn. */
const sliceOfTools = 100;

export function createListCosts(
  counts: Pick<TokenCounts, "get" | "count" | "load">,
  namesInTurns: LazyNames,
): ListCosts {
  /** Tools stay the same objects while nothing about them changes, so that each is written out and looked over once. */
  const byTool = new WeakMap<ToolEntry, Priced>();

  function priceOf(tool: ToolEntry, view: View, server: ViewServer): Priced {
    const name = view.names.flatName(tool);
    const known = byTool.get(tool);
    if (known?.name === name) return known;
    const priced = { name, ...priceText(toListedTool(tool.definition, name, server)) };
    byTool.set(tool, priced);
    return priced;
  }

  function sum(priced: Iterable<Pick<Priced, "key" | "estimate">>): TokenSum {
    let tokens = 0;
    let isExact = true;
    for (const { key, estimate } of priced) {
      const exact = counts.get(key);
      tokens += exact ?? estimate;
      isExact = isExact && exact !== undefined;
    }
    return { tokens, isExact };
  }

  const toolsOf = (view: View, server: ViewServer): readonly Priced[] =>
    server.shown ? server.tools.map((tool) => priceOf(tool, view, server)) : [];

  function flat(view: View): TokenSum {
    const tools = view.servers.flatMap((server) => toolsOf(view, server));
    return sum([...tools, priceText(flatExposure.instructions(view))]);
  }

  async function eachSlice(view: View, run: (tools: readonly ToolEntry[], server: ViewServer) => Promise<void> | void) {
    await namesInTurns(view, "flat");
    for (const server of view.servers) {
      for (let at = 0; server.shown && at < server.tools.length; at += sliceOfTools) {
        await run(server.tools.slice(at, at + sliceOfTools), server);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  async function countFlat(view: View): Promise<void> {
    await eachSlice(view, async (slice, server) => {
      const unknown = slice.filter((tool) => counts.get(priceOf(tool, view, server).key) === undefined);
      const texts = unknown.map((tool) => toListedTool(tool.definition, view.names.flatName(tool), server));
      if (texts.length > 0) await counts.count(texts);
    });
    await counts.count([flatExposure.instructions(view)]);
  }

  return {
    of: (view, exposure, reader) =>
      exposure.name === flatExposure.name ? flat(view) : sum(textsOf(view, exposure, reader).map(priceText)),
    flat,
    tool: (view, server, tool) => sum([priceOf(tool, view, server)]),
    servers: (view) =>
      view.servers.map((server) => {
        const tools = toolsOf(view, server);
        return { server: server.slug, tools: tools.length, isKnown: server.catalog !== undefined, ...sum(tools) };
      }),
    async prepare(view) {
      await counts.load();
      await eachSlice(view, (slice, server) => slice.forEach((tool) => priceOf(tool, view, server)));
    },
    async count(view, exposure, reader) {
      await counts.load();
      if (exposure.name !== flatExposure.name) await counts.count(textsOf(view, exposure, reader));
      await countFlat(view);
    },
  };
}

function textsOf(view: View, exposure: Exposure, reader: ListReader | undefined): readonly string[] {
  return [...exposure.list(view, "tools", reader).items, exposure.instructions(view)];
}

function priceText(text: string): Pick<Priced, "key" | "estimate"> {
  return { key: textKeyOf(text), estimate: estimateTokens(text) };
}
