// What can only go wrong over HTTP. On stdio these answer that they cannot do it.

import { setTimeout as delay } from "node:timers/promises";

/** @type {Record<string, import("./tools.mjs").Tool>} */
export const httpTools = {
  "http-error": {
    description: "Answers with HTTP `status` (500), `body` and `retryAfter`",
    run: overHttp(({ args, end }, response) => {
      const headers = args.retryAfter === undefined ? {} : { "retry-after": String(args.retryAfter) };
      response.writeHead(args.status ?? 500, { "content-type": "text/plain", ...headers });
      response.end(args.body ?? "failed, as asked");
      end();
    }),
  },
  redirect: {
    description: "Answers 307 to `url`",
    run: overHttp(({ args, end }, response) => {
      response.writeHead(args.status ?? 307, { location: args.url ?? "http://127.0.0.1:9/" });
      response.end();
      end();
    }),
  },
  "wrong-content-type": {
    description: "Answers 200 with a page of HTML",
    run: overHttp(({ end }, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!doctype html><title>Log in</title>");
      end();
    }),
  },
  "drop-connection": {
    description: "Cuts the connection; `headersFirst` sends headers before, `half` also half of the answer",
    run: overHttp(async ({ args, answerText }, response) => {
      if (args.headersFirst || args.half)
        response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
      if (args.half) await new Promise((done) => response.write(answerText({ content: [] }).slice(0, 20), done));
      else if (args.headersFirst) response.flushHeaders();
      response.socket.destroy();
    }),
  },
  "no-answer": {
    description: "Opens an event stream and ends it without an answer",
    run: overHttp(async ({ wire, end }) => {
      await wire.write(Buffer.from(": nothing follows\n\n"));
      end();
    }),
  },
  "silent-stream": {
    description: "Opens an event stream, sends comments every `ms` (1000), never answers",
    run: overHttp(async ({ wire, args }) => {
      while (!wire.gone.aborted) {
        await wire.write(Buffer.from(": still here\n\n"));
        await delay(args.ms ?? 1_000);
      }
    }),
  },
  "slow-write": {
    description: "Dribbles its answer, `bytes` (10) every `ms` (10)",
    run: overHttp(async ({ wire, args, answerText, end }) => {
      const frame = wire.frame(answerText({ content: [{ type: "text", text: "slowly" }] }));
      for (let at = 0; at < frame.length && !wire.gone.aborted; at += args.bytes ?? 10) {
        await wire.write(frame.subarray(at, at + (args.bytes ?? 10)));
        await delay(args.ms ?? 10);
      }
      end();
    }),
  },
  "end-listening": {
    description: "Breaks off every subscriptions/listen, and answers",
    run({ say, server }) {
      for (const listener of server.listeners) listener.end();
      server.listeners.clear();
      say("ended");
    },
  },
  "expire-session": {
    description: "Answers, and forgets the session: from now on its id is 404",
    run({ say, wire }) {
      say("expired");
      wire.session.end();
    },
  },
  "expire-all-sessions": {
    description: "Answers, and forgets every session",
    run({ say, server }) {
      say("expired");
      for (const session of server.sessions) session.end();
    },
  },
};

function overHttp(run) {
  return (exchange) => {
    const { response } = exchange.wire;
    if (response === undefined)
      return exchange.answer({
        content: [{ type: "text", text: "only over HTTP" }],
        isError: true,
      });
    return run(exchange, response);
  };
}
