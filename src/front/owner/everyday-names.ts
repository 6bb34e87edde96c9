/** What a person asks of the running gateway from a terminal. `front/owner/everyday.ts` answers it, loaded late. */
export const everydayNames = ["search", "kept", "call", "tools", "show", "resources", "read", "prompts"] as const;

export type EverydayName = (typeof everydayNames)[number];

export function isEverydayName(command: unknown): command is EverydayName {
  return everydayNames.some((name) => name === command);
}
