import type { ToolEffect } from "../../../src/kernel/call/tool-effects.ts";

const texts: Readonly<Record<ToolEffect, string>> = {
  read: "only reads",
  write: "changes something",
  send: "sends something",
  run: "runs code",
  destroy: "deletes or undoes something",
  unknown: "may change something",
};

/** What the gateway says that a tool does, in a few words, and whether a person is asked before each call. */
export function effectText({ effect, asks }: { readonly effect: ToolEffect; readonly asks: boolean }): string {
  return asks ? `${texts[effect]}, asks first` : texts[effect];
}
