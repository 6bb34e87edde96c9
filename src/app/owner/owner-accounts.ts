import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TeamPeople } from "../people/team-people.ts";

/** An account elsewhere that is to be somebody's here. */
export interface AccountLink {
  readonly name: string;
  readonly issuer: string;
  readonly subject: string;
}

/**
 * From now on, a sender with a token or an assertion of this account is the user. Rejects with PERSON_UNKNOWN, and with
 * PEOPLE_CONFLICT where the account is another user's.
 */
export async function linkAccount({ directory, access }: TeamPeople, given: AccountLink): Promise<void> {
  const { name, issuer, subject } = given;
  const user = directory.book.userNamed(name);
  if (user === undefined)
    throw new GatewayError("PERSON_UNKNOWN", `there is no user ${JSON.stringify(name.slice(0, 100))}`);
  const known = await access.store.identity({ issuer, subject });
  if (known !== undefined && known.userId !== user.id && directory.book.users.has(known.userId ?? ""))
    throw new GatewayError("PEOPLE_CONFLICT", "this account is already another user's");
  const now = Date.now();
  await access.change(
    {},
    {
      ...{ actor: "owner", via: "owner", action: "identity.link", object: user.name, ip: null },
      detail: { issuer, subject },
    },
    { identities: [{ issuer, subject, userId: user.id, label: subject, createdAtMs: now, seenAtMs: now }] },
  );
}
