// Tools that send notifications: expected ones, unexpected ones, far too many.

import { setTimeout as delay } from "node:timers/promises";

const kinds = { tools: "tools", prompts: "prompts", resources: "resources" };
const stormTickMs = 10;
const floodedAtOnce = 200;

/** @type {Record<string, import("./tools.mjs").Tool>} */
export const notifyingTools = {
  progress: {
    description: "Reports `steps` (3) steps of progress, `ms` (10) apart, then answers",
    async run(exchange) {
      const { steps = 3, ms = 10 } = exchange.args;
      for (let step = 1; step <= steps && !exchange.wire.gone.aborted; step += 1) {
        await report(exchange, exchange.params._meta?.progressToken, {
          progress: step,
          total: steps,
          message: `step ${step}`,
        });
        await delay(ms);
      }
      exchange.say({ steps });
    },
  },
  "progress-for-ever": {
    description: "Reports progress every `ms` (10) and never answers",
    async run(exchange) {
      for (let step = 1; !exchange.wire.gone.aborted; step += 1) {
        await report(exchange, exchange.params._meta?.progressToken, { progress: step });
        await delay(exchange.args.ms ?? 10);
      }
    },
  },
  flood: {
    description: "Reports progress, logs and says what nobody knows, as fast as it is read, and never answers",
    async run({ params, wire }) {
      const { progressToken } = params._meta ?? {};
      for (let step = 1; !wire.gone.aborted;) {
        const pieces = [];
        for (const end = step + floodedAtOnce; step < end; step += 1) {
          pieces.push(
            notification("notifications/progress", { progressToken, progress: step }),
            notification("notifications/message", { level: "info", data: step }),
            notification("notifications/never/heard/of", { step }),
          );
        }
        await wire.write(Buffer.concat(pieces.map((text) => wire.frame(text))));
      }
    },
  },
  "progress-backwards": {
    description: "Reports progress that goes down, repeats and is no number, then answers",
    async run(exchange) {
      for (const progress of [5, 3, 3, "7", null, -1])
        await report(exchange, exchange.params._meta?.progressToken, { progress });
      exchange.say("backwards");
    },
  },
  "progress-late": {
    description: "Answers, and then reports progress (stdio)",
    async run(exchange) {
      exchange.say("answered");
      await report(exchange, exchange.params._meta?.progressToken, { progress: 99 });
    },
  },
  "bad-progress-token": {
    description: "Reports progress for `token` (one that nobody gave) and for none, then answers",
    async run(exchange) {
      for (const token of [exchange.args.token ?? "nobody", null, { a: 1 }, undefined])
        await report(exchange, token, { progress: 1 });
      await exchange.notify("notifications/cancelled", { requestId: "nobody" });
      exchange.say("reported to nobody");
    },
  },
  log: {
    description: "Logs `text` at `level` (info) `times` (1), then answers",
    async run(exchange) {
      const { text = "logged", level = "info", times = 1 } = exchange.args;
      for (let count = 0; count < times; count += 1) {
        await exchange.notify("notifications/message", { level, logger: "bad-server", data: text });
      }
      exchange.say("logged");
    },
  },
  "unknown-notification": {
    description: "Sends a notification of an unknown method, then answers",
    async run(exchange) {
      await exchange.notify("notifications/never/heard/of", { a: 1 });
      exchange.say("sent");
    },
  },
  "list-changed": {
    description: "Announces that the list of `kind` (tools) changed, though it did not",
    run({ server, args, say }) {
      server.announce(`notifications/${kinds[args.kind] ?? "tools"}/list_changed`);
      say("announced");
    },
  },
  rename: {
    description:
      "Renames the listed tool `from` to `to` (adds without from, removes without to) and announces it unless `silent`",
    run({ server, args, say }) {
      server.lists.rename(args.from, args.to);
      if (!args.silent) server.announce("notifications/tools/list_changed");
      say("renamed");
    },
  },
  "resource-updated": {
    description: "Announces that the resource `uri` (bad://text) changed",
    run({ server, args, say }) {
      server.announce("notifications/resources/updated", { uri: args.uri ?? "bad://text" });
      say("announced");
    },
  },
  "task-status": {
    description: "Announces the status of every task that was handed out",
    run({ server, say }) {
      for (const taskId of server.tasks) server.announce("notifications/tasks/status", { taskId, status: "completed" });
      say("announced");
    },
  },
  storm: {
    description:
      "Announces a change of the tools `perSecond` (1000) times a second for `ms` (1000), then answers with how many",
    async run({ server, args, say }) {
      const { perSecond = 1_000, ms = 1_000 } = args;
      const total = (perSecond * ms) / 1_000;
      const start = performance.now();
      let sent = 0;
      while (sent < total) {
        // As many as are due by now: timers are late, and the rate has to hold.
        const due = Math.min(total, ((performance.now() - start) * perSecond) / 1_000);
        for (; sent < due; sent += 1) server.announce("notifications/tools/list_changed");
        await delay(stormTickMs);
      }
      say({ sent });
    },
  },
};

const report = ({ notify }, progressToken, progress) =>
  notify("notifications/progress", { progressToken, ...progress });

const notification = (method, params) => JSON.stringify({ jsonrpc: "2.0", method, params });
