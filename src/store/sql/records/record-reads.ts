import type { Kysely } from "kysely";
import { readEvents, readTools, readFinding } from "./event-rows.ts";
import { eraseCalls, readCall, readCalls } from "../requests/request-log.ts";
import { readLogs } from "./server-log.ts";
import type { AnswersFrom } from "../sql-messages.ts";
import type { RecordsTables } from "../tables.ts";
import { readUsage } from "./usage.ts";

/** How questions are answered from the records, in whichever database they are. One of them erases what it finds. */
export const recordReads = {
  calls: readCalls,
  eraseCalls,
  call: readCall,
  logs: readLogs,
  events: readEvents,
  usage: readUsage,
  tools: readTools,
  finding: readFinding,
} satisfies AnswersFrom<Kysely<RecordsTables>>;
