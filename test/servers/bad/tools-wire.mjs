// Answers that are wrong as messages or as bytes.

import { setImmediate as nextTurn } from "node:timers/promises";

const said = (text) => ({ content: [{ type: "text", text }] });
const pieceBytes = 65_536;
const multiByteText = "Grüße 漢字 😀 ñ ";

/** @type {Record<string, import("./tools.mjs").Tool>} */
export const wireTools = {
  twice: {
    description: "Answers twice: first, second",
    async run({ send, finish, answerText }) {
      await send(answerText(said("first")));
      finish(answerText(said("second")));
    },
  },
  "wrong-id": {
    description: "Answers to an id that nobody used, then (unless `only`) to the right one",
    run: (exchange) => answerWrongly(exchange, '"no-such-id"'),
  },
  "string-id": {
    description: "Answers to the right id in the other type (number for string), then (unless `only`) to the right one",
    run(exchange) {
      const { id } = exchange;
      return answerWrongly(exchange, typeof id === "number" ? `"${id}"` : String(Number.parseInt(id, 10) || 0));
    },
  },
  "null-id": {
    description: "Answers to the id null, then (unless `only`) to the right one",
    run: (exchange) => answerWrongly(exchange, "null"),
  },
  "other-id": {
    description: "Answers to another call that is under way, then (unless `only`) to its own",
    run(exchange) {
      const other = [...exchange.server.inFlight].findLast((candidate) => candidate !== exchange);
      return answerWrongly(exchange, JSON.stringify(other?.id ?? "nobody"));
    },
  },
  pester: {
    description:
      "Answers, reports progress on, cancels and completes whatever has an id up to `most` (500), then answers",
    async run({ id, args, send, notify, say, answerText }) {
      for (let at = 0; at <= (args.most ?? 500); at += 1) {
        for (const other of [at, String(at)]) {
          if (other !== id) await send(answerText(said("to whoever is there"), JSON.stringify(other)));
          await notify("notifications/progress", { progressToken: other, progress: 99 });
          await notify("notifications/cancelled", { requestId: other });
          await notify("notifications/elicitation/complete", { elicitationId: other });
          await notify("notifications/tasks/status", { taskId: other, status: "completed" });
        }
      }
      say("pestered");
    },
  },
  "not-json": {
    description: "Writes lines that are not JSON, then answers",
    async run({ send, say }) {
      for (const line of ["this is not JSON", "{broken", "[1,2", "\u0000\u0001"]) await send(line);
      say("after garbage");
    },
  },
  "json-not-rpc": {
    description: "Writes JSON that is not JSON-RPC, then answers",
    async run(exchange) {
      for (const line of ["1", "null", '"text"', "[]", "{}", '{"jsonrpc":"1.0","id":1,"result":{}}'])
        await exchange.send(line);
      exchange.say("after JSON");
    },
  },
  "blank-lines": {
    description: "Writes blank lines around its answer",
    async run(exchange) {
      await exchange.wire.write(Buffer.from("\n\n  \n\r\n"));
      exchange.say("between blank lines");
    },
  },
  crlf: {
    description: "Ends its lines with CR LF",
    run: (exchange) => writeWhole(exchange, exchange.wire.frame(exchange.answerText(said("crlf")), "\r\n")),
  },
  "invalid-utf8": {
    description: "Answers with bytes that are not UTF-8",
    async run(exchange) {
      const [before, after] = exchange.answerText(said("<>")).split("<>");
      const frame = [...exchange.wire.frame(`${before}<>${after}`)];
      const at = frame.indexOf("<".charCodeAt(0));
      await writeWhole(exchange, Buffer.from(frame.with(at, 0xc3).with(at + 1, 0x28)));
    },
  },
  "huge-line": {
    description: "Writes a line without an end, up to `bytes` if given",
    async run({ id, wire, args, end }) {
      const [before, after] = JSON.stringify({ jsonrpc: "2.0", id, result: said("<>") }).split("<>");
      const filler = Buffer.alloc(pieceBytes, "a");
      await wire.write(wire.frame(before, ""));
      for (let written = 0; written < (args.bytes ?? Infinity) && !wire.gone.aborted; written += pieceBytes) {
        await wire.write(filler);
        await nextTurn();
      }
      await wire.write(Buffer.from(`${after}\n\n`));
      end();
    },
  },
  "one-byte-writes": {
    description: "Answers with `text` (default: many alphabets), one byte per write",
    run: (exchange) => writeInPieces(exchange, exchange.args.text ?? multiByteText.repeat(4), (length) => length),
  },
  "many-chunks": {
    description: "Answers with `bytes` (100 KB) of text in `chunks` (10000) writes",
    run(exchange) {
      const { bytes = 100_000, chunks = 10_000 } = exchange.args;
      return writeInPieces(exchange, multiByteText.repeat(bytes / Buffer.byteLength(multiByteText)), () => chunks);
    },
  },
  "two-in-one-chunk": {
    description: "Writes a notification and its answer in one write",
    run(exchange) {
      const { wire, answerText } = exchange;
      const note =
        '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"in the same chunk"}}';
      return writeWhole(
        exchange,
        Buffer.concat([wire.frame(note), wire.frame(answerText(said("second in the chunk")))]),
      );
    },
  },
  "half-answer": {
    description: "Writes half of its answer, then nothing; `exit` ends the process there, `line` only the line",
    async run({ wire, answerText, args, end }) {
      const frame = wire.frame(answerText(said("this is cut in the middle")));
      await wire.write(frame.subarray(0, frame.length / 2));
      if (args.line) await wire.write(Buffer.from("\n\n"));
      if (args.exit) process.exit(1);
      if (wire.kind === "http") end();
    },
  },
  batch: {
    description: "Answers with an array, as the revision of 2025-03-26 allowed",
    run: ({ finish, answerText }) => finish(`[${answerText(said("in a batch"))}]`),
  },
};

async function answerWrongly({ args, send, finish, end, answerText, wire }, otherId) {
  await send(answerText(said("to the wrong id"), otherId));
  if (!args.only) finish(answerText(said("to the right id")));
  else if (wire.kind === "http") end();
}

async function writeWhole({ wire, end }, bytes) {
  await wire.write(bytes);
  end();
}

/** The turn of the event loop between writes keeps most of them apart on the way. */
async function writeInPieces({ wire, answerText, end }, value, countFor) {
  const frame = wire.frame(answerText(said(value)));
  const size = Math.max(1, Math.floor(frame.length / countFor(frame.length)));
  for (let at = 0; at < frame.length; at += size) {
    await wire.write(frame.subarray(at, at + size));
    await nextTurn();
  }
  end();
}
