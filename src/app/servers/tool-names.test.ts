import { noToolRules } from "../../../test/harness/fake-server.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import type { ServerConfig, ToolRules } from "../../config/config.ts";
import { createEventBus, type EventBus } from "../../kernel/events/event-bus.ts";
import type { InstanceId, ServerSlug } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import { warnOfToolNames } from "./tool-names.ts";

const id = "files" as InstanceId;
const about = { atMs: 0, instance: id, server: "files" as ServerSlug, installation: id };
const ignore = (): void => undefined;

describe("a name under a server's tools that none of its tools has", () => {
  let events: EventBus;
  let warnings: string[];
  let tools: readonly string[] | undefined;
  let rules: ToolRules;
  beforeEach(() => {
    events = createEventBus((error) => {
      throw error;
    });
    warnings = [];
    tools = ["read_file", "write_file"];
    const log: Log = { debug: ignore, info: ignore, error: ignore, warn: (_fields, text) => void warnings.push(text) };
    const instance = (): unknown => ({ id, server: { slug: "files", tools: rules } as unknown as ServerConfig });
    const fleet = { get: instance, all: () => [instance()] } as unknown as Pick<Fleet, "all" | "get">;
    const catalogOf = () =>
      tools &&
      sampleInstance(
        "files",
        tools.map((name) => ({ name })),
      );
    warnOfToolNames({ fleet, catalogOf, events, log });
  });
  const listed = (kinds: readonly ("tools" | "prompts")[] = ["tools"]): void =>
    events.emit({ type: "catalog.changed", ...about, principal: undefined, team: undefined, kinds });
  const reloaded = (): void =>
    events.emit({ type: "config.changed", atMs: 0, file: "f", added: 0, changed: 1, removed: 0 });

  test("is reported with its place, once", () => {
    rules = { ...noToolRules, deny: ["delete_file"] };
    listed();
    listed();
    reloaded();
    expect(warnings).toEqual(['files: tools.deny: "delete_file" is the name of none of its 2 tools']);
  });

  test("is found in every list, and patterns count only where they may stand", () => {
    rules = {
      ...noToolRules,
      allow: ["read_*", "list_*"],
      within: [["*_file"], ["nothing"]],
      deny: ["write_file"],
      rename: { read_file: "r", "write_*": "w" },
      describe: { Read_File: "It reads." },
    };
    listed();
    expect(warnings.map((text) => text.slice("files: tools.".length, text.indexOf(" is the")))).toEqual([
      'allow: "list_*"',
      'allow: "nothing"',
      'rename: "write_*"',
      'describe: "Read_File"',
    ]);
  });

  test("is looked for when the configuration has changed, and when the tools have, but not before they are known", () => {
    rules = { ...noToolRules, deny: ["gone"] };
    tools = undefined;
    reloaded();
    tools = ["read_file"];
    listed(["prompts"]);
    expect(warnings).toEqual([]);
    listed();
    expect(warnings).toEqual(['files: tools.deny: "gone" is the name of none of its 1 tools']);
    rules = { ...noToolRules, deny: ["also_gone"] };
    reloaded();
    expect(warnings).toHaveLength(2);
  });
});
