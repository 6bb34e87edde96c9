import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";
import type { TextSearch } from "../../../wire/json/text-search.ts";
import type { Verdict } from "../../../wire/mcp/result-bytes.ts";
import type { Notes } from "../../../wire/mcp/shapes/shape.ts";

export interface ResultLimits {
  /** The largest result that is passed on. */
  readonly resultBytes: number;
  /** The most content blocks of one result. */
  readonly contentBlocks: number;
  readonly depth: number;
}

/** What results are checked with. */
export interface ResultChecks extends ResultLimits {
  readonly textSearch: () => TextSearch | undefined;
}

/** What a result is of. */
export interface ResultSubject {
  /** In messages: the path of a tool, the name of a prompt, or the address of a resource. */
  readonly what: string;
  readonly method: string;
}

export function toVerdict({ needs, isEmpty, text }: Notes): Verdict | undefined {
  return needs === "" && isEmpty ? undefined : { needs, oddity: isEmpty ? undefined : text };
}

export function tooManyBlocks(path: string, limits: ResultLimits): GatewayError {
  return new GatewayError(
    "RESULT_TOO_LARGE",
    `the result of ${path} has more than ${limits.contentBlocks} content blocks (limits.contentBlocks)`,
    askForLess("limits.contentBlocks", limits.contentBlocks),
  );
}

export function tooManyBytes(what: string, bytes: number, { resultBytes }: ResultLimits): GatewayError {
  return new GatewayError(
    "RESULT_TOO_LARGE",
    `the result of ${what} has ${bytes} bytes; limits.resultBytes is ${resultBytes}`,
    askForLess("limits.resultBytes", resultBytes),
  );
}

function askForLess(setting: string, value: number): { readonly hint: string } {
  return { hint: `Ask the tool for less (a page, a range, a filter), or raise ${settingNow(setting, value)}.` };
}

export function faulty(path: string, what: string): GatewayError {
  return new GatewayError("UPSTREAM_PROTOCOL", `the result of ${path} ${what}`);
}
