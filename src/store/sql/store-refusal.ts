import type { StoreProblem } from "../record-store.ts";
import { isOutOfRoom } from "./sqlite/sql-driver.ts";
import type { Refusal } from "./sql-messages.ts";

/** Something was asked that the database cannot do now. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly refusal: Refusal;

  constructor(problem: StoreProblem | undefined) {
    super(problem?.message ?? "the database is not open");
    const code = problem?.kind === "full" ? "STORE_FULL" : "STORE_UNAVAILABLE";
    this.refusal = { code, message: this.message, ...(problem === undefined ? {} : { hint: problem.hint }) };
  }
}

/** A backup that cannot be written or used. */
export class BadBackup extends Refused {
  override readonly refusal: Refusal;

  constructor(message: string, hint?: string) {
    super(undefined);
    this.refusal = { code: "BACKUP_UNUSABLE", message, ...(hint === undefined ? {} : { hint }) };
  }
}

/** The change was planned with less than another gateway has written by now. */
export class Behind extends Refused {
  override readonly refusal: Refusal = {
    code: "STORE_BEHIND",
    message: "another gateway has changed something meanwhile",
  };

  constructor() {
    super(undefined);
  }
}

/** A set-up link that a change depends on was used before. */
export class SpentLink extends Refused {
  override readonly refusal: Refusal = {
    code: "LOGIN_EXPIRED",
    message: "this link is too old, or was used before",
  };

  constructor() {
    super(undefined);
  }
}

/** The failure of a question, as the asker is told it. */
export function toRefusal(error: unknown, problem: StoreProblem | undefined): Refused {
  if (error instanceof Refused) return error;
  if (problem !== undefined) return new Refused(problem);
  const refused = new Refused(undefined);
  const message = error instanceof Error ? error.message : String(error);
  const code = isOutOfRoom(error) ? "STORE_FULL" : "INTERNAL";
  return Object.assign(refused, { refusal: { code, message: `the database refused: ${message}` } });
}
