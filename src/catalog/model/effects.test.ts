import { describe, expect, test } from "vitest";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import { choosingValues, effectOfCall, effectOfName, namedEffect, withAnnotations } from "./effects.ts";

const definition = (more: object = {}): ToolDefinition => ({ name: "x", inputSchema: { type: "object" }, ...more });
const choosing = (properties: object): ToolDefinition => definition({ inputSchema: { type: "object", properties } });

describe("the effect of a name", () => {
  test.each([
    ["read", "get_file search_issues listTables browser_take_snapshot HTTPGet describe-table echo git_log issues_list"],
    ["write", "create_issue update_page browser_click git_commit moveFile get_or_create_user stop_server drop_file"],
    ["send", "send_email publishPost deploy_worker merge_pull_request slack_post_message pay_invoice"],
    [
      "destroy",
      "delete_file removeLabel git_reset DROP_TABLE rollback tear_down_cluster roll-back archive_card purgeAll",
    ],
    ["destroy", "list_and_delete bulk_delete_records kill_process get_or_delete API-delete-a-block"],
    ["run", "exec_in_pod execute_sql run_code browser_evaluate powershell eval run_shell_command"],
    ["unknown", "weather sequentialthinking maps_elevation 漢字 run_pipeline _ toString"],
  ])("%s: %s", (effect, names) => {
    const found = names.split(" ").map((name) => [name, effectOfName(name).effect]);
    expect(found).toEqual(names.split(" ").map((name) => [name, effect]));
  });

  test("says which word of it decided", () => {
    expect(effectOfName("bulk_delete_records")).toEqual({ effect: "destroy", word: "delete" });
    expect(effectOfName("weather")).toEqual({ effect: "unknown", word: undefined });
  });

  test("of a thousand characters and more takes as long as that of a thousand", () => {
    expect(effectOfName(`${"a".repeat(5_000_000)}_delete`).effect).toBe("unknown");
    expect(effectOfName("aA".repeat(1_000_000)).effect).toBe("unknown");
  });
});

describe("a parameter that chooses", () => {
  const of = (properties: object, name = "manage_rows"): readonly string[] =>
    namedEffect(name, choosing(properties)).choices.map(({ parameter, strongest }) => `${parameter}: ${strongest}`);

  test("counts where a value is worse than the name", () => {
    const values = { enum: ["list", "add", "deleteRows"] };
    expect(of({ action: values })).toEqual(["action: destroy"]);
    expect(of({ Operation: { anyOf: [{ const: "get" }, { const: "purge" }] } })).toEqual(["operation: destroy"]);
    expect(of({ steps: { type: "array", items: { properties: { action: values } } } })).toEqual(["action: destroy"]);
    expect(of({ action: values }, "delete_rows")).toEqual([]);
    expect(of({ color: values })).toEqual([]);
  });

  test("counts however its schema is written", () => {
    const deep = (schema: object): readonly string[] =>
      namedEffect("manage_rows", definition({ inputSchema: { type: "object", ...schema } })).choices.map(
        ({ parameter, strongest }) => `${parameter}: ${strongest}`,
      );
    const action = { enum: ["list", "delete"] };
    const union = ["list", "delete"].map((value) => ({ properties: { action: { const: value } } }));
    for (const schema of [
      { properties: { action: { $ref: "#/$defs/A~1B" } }, $defs: { "A/B": action } },
      { properties: { action: { allOf: [{ $ref: "#/$defs/A" }] } }, $defs: { A: action } },
      { anyOf: union },
      { properties: { what: { oneOf: union } } },
      { properties: { action: { type: "array", items: { anyOf: [{ const: "delete" }] } } } },
      { properties: { rows: { additionalProperties: { properties: { action } } } } },
    ])
      expect([schema, deep(schema)]).toEqual([schema, ["action: destroy"]]);
    // One that refers to itself ends.
    const own = { $ref: "#", anyOf: [{ $ref: "#" }, { $ref: "#" }], properties: { a: { $ref: "#" }, action } };
    expect(deep(own)).toEqual(["action: destroy"]);
  });

  test("counts by its default where it is left out, and in lists within lists", () => {
    const { effect, choices } = namedEffect(
      "manage_rows",
      choosing({ action: { enum: ["list", "delete"], default: "delete" } }),
    );
    const of = (given: unknown): string => effectOfCall(effect, choices, given);
    for (const given of [{}, { action: null }, { action: [["delete"]] }, { action: 7 }])
      expect(of(given)).toBe("destroy");
    expect(of({ action: "list" })).toBe("write");
  });

  test("is found in arguments alone where there is no schema", () => {
    const given = { Action: "delete", deep: [{ mode: ["a", ["b"]] }], other: "delete" };
    expect(choosingValues(given)).toEqual([
      ["action", ["delete"]],
      ["mode", ["a", "b"]],
    ]);
  });

  test("does not count where its values are those of HTTP, or name things", () => {
    expect(of({ method: { enum: ["GET", "POST", "PUT", "DELETE"] } })).toEqual([]);
    expect(of({ type: { enum: ["comment", "commit", "send"] } })).toEqual([]);
  });

  test("counts in a call wherever and however it is written", () => {
    const { effect, choices } = namedEffect("manage_rows", choosing({ action: { enum: ["list", "add", "delete"] } }));
    const of = (given: unknown): string => effectOfCall(effect, choices, given);
    for (const harmless of [{}, { action: "list" }, { action: "ADD" }, { other: "delete" }, undefined, null, "delete"])
      expect([harmless, of(harmless)]).toEqual([harmless, "write"]);
    const deep = Array.from({ length: 200 }).reduce<object>((inner) => ({ a: inner }), {});
    const wide = { all: Array.from({ length: 20_000 }, () => ({})) };
    for (const worse of [{ action: " Delete\n" }, { ACTION: ["list", "delete"] }, { a: [{ action: "delete" }] }])
      expect([worse, of(worse)]).toEqual([worse, "destroy"]);
    // A value that is not listed may be anything, and so may what is too large to be looked at.
    for (const unclear of [{ action: "wipe-out" }, deep, wide]) expect(of(unclear)).toBe("destroy");
  });
});

test("annotations make an effect stronger, never weaker, unless they are trusted", () => {
  const of = (
    effect: "read" | "destroy" | "unknown",
    annotations: object,
    use?: "raise" | "trust" | "ignore",
  ): string => withAnnotations(effect, definition({ annotations }), use ?? "raise");
  expect(of("destroy", { readOnlyHint: true })).toBe("destroy");
  expect(of("read", { readOnlyHint: false })).toBe("write");
  expect(of("read", { destructiveHint: true })).toBe("read");
  expect(of("unknown", { destructiveHint: true })).toBe("destroy");
  expect(of("unknown", { destructiveHint: true, readOnlyHint: true })).toBe("unknown");
  expect(of("destroy", { readOnlyHint: true }, "trust")).toBe("read");
  expect(of("read", { destructiveHint: true }, "trust")).toBe("destroy");
  expect(of("unknown", { destructiveHint: true }, "ignore")).toBe("unknown");
});
