import type { Kysely } from "kysely";
import { parsePins, type PinChoice } from "../../../config/rows/tool-rows.ts";
import type { StateTables } from "../tables.ts";

type Db = Kysely<StateTables>;

export interface PinQuestion {
  readonly person: string;
  /** Null takes the choice back. */
  readonly choice: PinChoice | null;
}

/** Undefined for a member who chose nothing. */
export async function readPins(db: Db, person: string): Promise<PinChoice | undefined> {
  const row = db.selectFrom("member_pins").select("pins").where("membership_id", "=", person);
  const text = (await row.executeTakeFirst())?.pins;
  return text === undefined ? undefined : parsePins(JSON.parse(text));
}

/** Inside a transaction of a writer. Whether there is such a member still. */
export async function choosePins(db: Db, { person, choice }: PinQuestion): Promise<boolean> {
  // Another gateway may have removed the member in this moment.
  const member = db.selectFrom("membership").select("id").where("id", "=", person);
  if ((await member.executeTakeFirst()) === undefined) return false;
  await db.deleteFrom("member_pins").where("membership_id", "=", person).execute();
  if (choice !== null)
    await db
      .insertInto("member_pins")
      .values({ membership_id: person, pins: JSON.stringify(choice) })
      .execute();
  return true;
}
