import { describe, expect, test } from "vitest";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import { effectOfCall, effectOfName, namedEffect, withAnnotations } from "./effects.ts";

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
