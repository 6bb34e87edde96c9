import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import { hasManyParts } from "../../../wire/json/json-parts.ts";
import type { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { judgeLarge, outlined } from "./large-results.ts";
import { mendInThread } from "./mend-thread.ts";
import { checkParsed } from "./parsed-result.ts";
import { faulty, tooManyBytes, type ResultChecks, type ResultSubject } from "./result-faults.ts";
import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { EventBus } from "../../../kernel/events/event-bus.ts";
import type { Instance } from "../../../servers/instance/instance.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Validators } from "../../validation/validators.ts";

/**
 * Results up to this size are parsed, which takes microseconds and shows every fault. Larger ones are only scanned.
 */
const parsedUpToBytes = 65_536;

/**
 * Odd ones up to this size are parsed, mended and written in one turn if they have few parts: a thread takes 50 ms to
 * start. Larger ones go to a thread.
 */
const mendedUpToBytes = 262_144;
const mendedUpToParts = 10_000;
/** With `mustParse`: JSON.parse takes 30 ms for a value of this size that has as many parts as one may have. */
const mustParseUpToBytes = 4_194_304;

/**
 * Makes of a result what clients can read (faults 41, 43): members that are odd are left out or mended, and blocks that
 * are none become text (`wire/mcp/shapes/result-shapes.ts`). A result with nothing odd passes as the bytes that it is,
 * of the others the parts that are not odd. Its parsed value comes along when it is small or had to be parsed for
 * another reason; `mustParse` is one. Throws RESULT_TOO_LARGE, and UPSTREAM_PROTOCOL if it is no JSON object, or too
 * large to be parsed where it must be.
 */
export function checkResult(
  subject: ResultSubject,
  result: JsonBytes,
  limits: ResultChecks,
  mustParse = false,
): ResultBytes | Promise<ResultBytes> {
  if (result.length > limits.resultBytes) throw tooManyBytes(subject.what, result.length, limits);
  if (mustParse && (result.length > mustParseUpToBytes || hasManyParts(result)))
    throw faulty(
      subject.what,
      `has ${result.length} bytes, too many to be compared with its outputSchema (strictResults)`,
    );
  if (result.length <= parsedUpToBytes || mustParse) return checkParsed(subject, result, limits);
  return checkLarge(subject, result, limits);
}

async function checkLarge(subject: ResultSubject, result: JsonBytes, limits: ResultChecks): Promise<ResultBytes> {
  const judged = await judgeLarge(subject, result, limits);
  if (judged !== undefined) return judged;
  if (result.length <= mendedUpToBytes && !hasManyParts(result, mendedUpToParts))
    return checkParsed(subject, result, limits);
  const { bytes, verdict } = await mendInThread(subject, result, limits);
  return await outlined(subject, Buffer.from(bytes.buffer), limits, verdict);
}

/**
 * Checks whether a result's `structuredContent` fits the tool's `outputSchema`. A mismatch throws UPSTREAM_PROTOCOL
 * when `strictResults` is set, and otherwise only emits an event.
 */
export type StructuredCheck = (tool: ToolEntry, instance: Instance, result: ResultBytes) => void;

export function createStructuredCheck(validators: Validators, events: EventBus): StructuredCheck {
  return (tool, instance, result) => {
    const schema = tool.definition.outputSchema;
    const structured = result.known?.["structuredContent"];
    if (schema === undefined || structured === undefined || result.isError) return;
    const verdict = validators.verdict(`${tool.hash}.output`, schema);
    if (verdict === "unvalidated") return;
    const problem = verdict.check(structured);
    if (problem === undefined) return;
    events.emit({
      type: "result.schema_mismatch",
      ...instance.about(),
      tool: tool.path,
      reason: problem.message,
    });
    if (instance.server.strictResults)
      throw new GatewayError(
        "UPSTREAM_PROTOCOL",
        `the result of ${tool.path} does not fit its outputSchema: ${problem.message}`,
      );
  };
}
