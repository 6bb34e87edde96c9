// Tools that do something to the process, its children or its streams.

import { spawn } from "node:child_process";
import { appendFileSync, closeSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import { notePid } from "./records.mjs";

const pieceBytes = 65_536;
const megabyte = 2 ** 20;
// Children must not outlive a test machine for long, should the gateway fail to end them.
const childSeconds = 600;

/** @type {Record<string, import("./tools.mjs").Tool>} */
export const processTools = {
  exit: {
    description: "Ends the process with `code` (0) without an answer",
    run: ({ args }) => process.exit(args.code ?? 0),
  },
  "crash-self": {
    description: "Kills itself with `signal` (SIGKILL)",
    run: ({ args }) => process.kill(process.pid, args.signal ?? "SIGKILL"),
  },
  segv: { description: "Dies of SIGSEGV", run: () => process.kill(process.pid, "SIGSEGV") },
  throw: {
    description: "Dies of an exception, with a stack on stderr",
    run: () =>
      setImmediate(() => {
        throw new Error("thrown, as asked");
      }),
  },
  "answer-then-exit": {
    description: "Answers, and ends the process with `code` (1)",
    run({ say, args }) {
      say("goodbye");
      setImmediate(() => process.exit(args.code ?? 1));
    },
  },
  "exit-grandchild-holds-stdout": {
    description: "Ends the process while a child of it keeps stdout open; `detached` gives that a session of its own",
    run({ server, args }) {
      const stdio = ["ignore", "inherit", "ignore"];
      const child = spawn("sleep", [String(childSeconds)], {
        stdio,
        detached: args.detached ?? false,
      });
      child.once("spawn", () => {
        notePid(server.options, child.pid, "grandchild-holds-stdout");
        process.exit(1);
      });
    },
  },
  fork: {
    description: "Starts a child that sleeps and returns its pid; `deaf` ignores SIGTERM, `clean` has no environment",
    run: startChild({}),
  },
  "double-fork": {
    description: "The same, with a parent that is gone at once",
    run: startChild({ orphan: true }),
  },
  setsid: { description: "The same, in a session of its own", run: startChild({ detached: true }) },
  daemon: {
    description: "The same, orphaned and in a session of its own",
    run: startChild({ orphan: true, detached: true }),
  },
  "fork-bomb": {
    description: "Starts `count` (200) children that sleep",
    async run(exchange) {
      const count = exchange.args.count ?? 200;
      const pids = await Promise.all(Array.from({ length: count }, () => startSleeper(exchange, {})));
      exchange.say({ pids });
    },
  },
  "ignore-sigterm": {
    description: "From now on ignores SIGTERM and the end of stdin",
    run({ say, server }) {
      process.on("SIGTERM", () => {});
      server.options["ignore-eof"] = true;
      say("deaf");
    },
  },
  "never-read-stdin": {
    description: "Answers, and reads nothing from then on (stdio)",
    run({ say }) {
      process.stdin.pause();
      stayAlive();
      say("not reading");
    },
  },
  "slow-read": {
    description: "Answers, and from then on reads stdin only for a moment every `ms` (100)",
    run({ say, args }) {
      process.stdin.pause();
      setInterval(() => {
        process.stdin.resume();
        setImmediate(() => process.stdin.pause());
      }, args.ms ?? 100);
      say("reading slowly");
    },
  },
  "stop-self": {
    description: "Stops itself with SIGSTOP; `answer` answers before",
    async run({ say, args }) {
      if (args.answer) say("stopping");
      await nextTurn();
      process.kill(process.pid, "SIGSTOP");
    },
  },
  "close-stdout": {
    description: "Closes stdout and lives on",
    run({ server }) {
      closeSync(1);
      server.options["ignore-eof"] = true;
      stayAlive();
    },
  },
  "close-stdin": {
    description: "Answers, and closes its stdin",
    run: ({ say }) => {
      say("closed");
      process.stdin.destroy();
      stayAlive();
    },
  },
  stderr: {
    description: "Writes `text` to stderr `times` (1)",
    run: ({ say, args }) => {
      process.stderr.write(`${args.text ?? "on stderr"}\n`.repeat(args.times ?? 1));
      say("written");
    },
  },
  "flood-stderr": {
    description: "Writes `bytes` (100 MB) to stderr as fast as it can, in lines of `line` (1000) bytes, then answers",
    async run({ say, args, wire }) {
      const { bytes = 100 * megabyte, line = 1_000 } = args;
      const piece = `${"e".repeat(line - 1)}\n`.repeat(Math.ceil(pieceBytes / line));
      for (let written = 0; written < bytes && !wire.gone.aborted; written += piece.length) {
        process.stderr.write(piece);
        await nextTurn();
      }
      say({ bytes });
    },
  },
  "eat-memory": {
    description: "Takes `bytes` (2 GB) of memory, keeps it, then answers",
    async run({ say, args, server }) {
      const bytes = args.bytes ?? 2_048 * megabyte;
      server.eaten ??= [];
      for (let taken = 0; taken < bytes; taken += 16 * megabyte) {
        server.eaten.push(Buffer.alloc(16 * megabyte, 1));
        await nextTurn();
      }
      say({ bytes });
    },
  },
  spin: {
    description: "Keeps a core busy for `ms` (10000), answering nothing meanwhile",
    run({ say, args }) {
      const end = performance.now() + (args.ms ?? 10_000);
      while (performance.now() < end);
      say("spun");
    },
  },
  "fill-file": {
    description: "Writes `bytes` (100 MB) to the file `path`",
    run({ say, args }) {
      writeFileSync(args.path, "");
      for (let written = 0; written < (args.bytes ?? 100 * megabyte); written += megabyte) {
        appendFileSync(args.path, Buffer.alloc(megabyte, "f"));
      }
      say("filled");
    },
  },
};

const stayAlive = () => setInterval(() => {}, 60_000);

function startChild(how) {
  return async (exchange) => exchange.say({ pid: await startSleeper(exchange, how) });
}

/** Through a shell, which prints the pid: only so can the child be an orphan, or deaf to SIGTERM from its start. */
async function startSleeper({ args, server, params }, { orphan = false, detached = false }) {
  const sleep = `sleep ${childSeconds} </dev/null >/dev/null 2>&1`;
  const deaf = args.deaf ? 'trap "" TERM HUP; ' : "";
  const script = orphan ? `${deaf}${sleep} & echo $!` : `${deaf}echo $$; exec ${sleep}`;
  const env = args.clean ? {} : process.env;
  const shell = spawn("/bin/sh", ["-c", script], {
    stdio: ["ignore", "pipe", "ignore"],
    detached,
    env,
  });
  const [line] = await new Promise((resolve, reject) => {
    shell.once("error", reject);
    createInterface({ input: shell.stdout }).once("line", (text) => resolve([text]));
  });
  notePid(server.options, Number(line), params.name);
  return Number(line);
}
