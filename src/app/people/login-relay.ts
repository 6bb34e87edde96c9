import { createHash } from "node:crypto";
import { failures, type FailureCode } from "../../kernel/failures/failures.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { openOnce } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { createSealing } from "../../people/authorization-server/oauth/sealed-rows.ts";
import { waitsNowhere, type FinishedLogin, type LoginRelay } from "../../servers/logins/flow/browser-logins.ts";
import { loginTimeoutMs } from "../../servers/logins/flow/login-route.ts";
import type { SharedItem, SharedItems } from "../../store/shared.ts";

export interface LoginRelayDeps {
  readonly items: () => Promise<SharedItems>;
  /** The same at all gateways of a database. */
  readonly key: Uint8Array;
  readonly log: Log;
}

/** What a browser brought back, and then what became of it. Sealed: there is a code in it. */
interface Brought {
  readonly query: string;
  readonly browser: string;
  readonly end?: End;
}

interface End {
  /** Null where the answer was not used. */
  readonly instance: string | null;
  readonly problem: { readonly code: string; readonly message: string; readonly hint: string } | null;
}

/** So long a browser waits for the gateway where its login began: it asks two servers, 15 s each at most. */
const longestMs = 45_000;

/** Answers of logins at servers that reach another gateway than the one where they wait, by the database. */
export function createLoginRelay({ items, key, log }: LoginRelayDeps): LoginRelay {
  const sealing = createSealing(key);
  const waiting = new Set<string>();
  let finish: Parameters<LoginRelay["serve"]>[0] | undefined;

  const open = openOnce(async () => {
    const opened = await items();
    opened.onChange("login-answer", (ids) => {
      const mine = [...waiting].filter((id) => ids === undefined || ids.includes(id));
      if (mine.length > 0) void tell(takeIn(opened, mine));
    });
    return opened;
  });

  async function tell(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) =>
      log.warn({ component: "oauth", err: error }, "a browser that comes back to another gateway cannot be served"),
    );
  }

  const toItem = (id: string, kind: SharedItem["kind"], brought?: Brought): SharedItem => ({
    ...{ kind, id, team: null, expiresAtMs: Date.now() + 2 * loginTimeoutMs },
    about: brought === undefined ? "" : sealing.seal(JSON.stringify(brought), id),
  });

  function read({ id, about }: SharedItem): Brought | undefined {
    const text = sealing.open(about, id);
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return isJsonObject(value) ? (value as unknown as Brought) : undefined;
  }

  /** What came to other gateways, of logins that wait here. */
  async function takeIn(opened: SharedItems, ids: readonly string[]): Promise<void> {
    for (const item of await opened.read("login-answer", ids)) {
      const brought = read(item);
      if (brought === undefined || brought.end !== undefined || !waiting.delete(item.id)) continue;
      const end = await endOf(async () => await finish?.(new URLSearchParams(brought.query), brought.browser));
      await opened.write({ items: [toItem(item.id, "login-answer", { ...brought, query: "", end })] });
    }
  }

  /** Resolves when the gateway where it waits has said what became of it. */
  async function outcomeOf(opened: SharedItems, id: string, bring: () => Promise<void>): Promise<End> {
    let stop = (): void => undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        const look = async (): Promise<void> => {
          const [item] = await opened.read("login-answer", [id]);
          const end = item && read(item)?.end;
          if (end !== undefined) resolve(end);
        };
        stop = opened.onChange("login-answer", (ids) => {
          if (ids === undefined || ids.includes(id)) look().catch(reject);
        });
        timer = setTimeout(() => reject(silent()), longestMs);
        bring().catch(reject);
      });
    } finally {
      stop();
      clearTimeout(timer);
    }
  }

  return {
    async note(state, isWaiting) {
      const id = idOf(state);
      if (isWaiting) waiting.add(id);
      else if (!waiting.delete(id)) return;
      const begun = toItem(id, "login-begun");
      // Where it cannot be written, the browser has to come back to this gateway.
      await tell(open().then(async (opened) => await opened.write(isWaiting ? { items: [begun] } : { gone: [begun] })));
    },
    async bring(answer, browser) {
      const id = idOf(answer.get("state") ?? "");
      const opened = await open();
      const [begun] = await opened.read("login-begun", [id]);
      if (begun === undefined || begun.expiresAtMs <= Date.now()) throw waitsNowhere();
      const brought = toItem(id, "login-answer", { query: answer.toString(), browser });
      const end = await outcomeOf(opened, id, async () => await opened.write({ newItems: [brought], gone: [begun] }));
      void tell(opened.write({ gone: [brought] }));
      return toFinished(end);
    },
    serve: (given) => (finish = given),
  };
}

function idOf(state: string): string {
  return createHash("sha256").update(state).digest("base64url");
}

async function endOf(run: () => Promise<FinishedLogin | undefined>): Promise<End> {
  try {
    const done = await run();
    return { instance: done?.instance ?? null, problem: done?.problem === undefined ? null : toProblem(done.problem) };
  } catch (error) {
    return { instance: null, problem: toProblem(toGatewayError(error)) };
  }
}

function toProblem({ code, message, hint }: GatewayError) {
  return { code, message, hint: hint ?? "" };
}

/** Throws where the answer was not used. */
function toFinished({ instance, problem }: End): FinishedLogin {
  if (problem === null) {
    if (instance === null) throw silent();
    return { instance, problem: undefined };
  }
  const { code, message, hint } = problem;
  // Of a newer version, its code may not be known here.
  const known = Object.hasOwn(failures, code) ? (code as FailureCode) : "LOGIN_FAILED";
  const error = new GatewayError(known, message, { hint });
  if (instance === null) throw error;
  return { instance, problem: error };
}

function silent(): GatewayError {
  return new GatewayError("LOGIN_FAILED", "the gateway where this login began does not answer", {
    hint: "Begin the login again.",
  });
}
