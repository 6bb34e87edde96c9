import type { Schemas } from "../api/client.ts";

/** What somebody is in a team. */
export const roleNames: Readonly<Record<Schemas["Member"]["role"], string>> = {
  member: "a member",
  admin: "an admin",
  owner: "its owner",
};
