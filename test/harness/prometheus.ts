import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

/** Where `scripts/get-prometheus.mjs` puts it. */
const ownFile = fileURLToPath(new URL("../../.cache/prometheus/usr/bin/prometheus", import.meta.url));

/** The program, installed or downloaded; undefined on a machine without it. */
export function findPrometheus(): string | undefined {
  if (spawnSync("prometheus", ["--version"]).status === 0) return "prometheus";
  return existsSync(ownFile) ? ownFile : undefined;
}

/** One series of an answer: its labels and its value now. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A series over a while, at points that are equally far apart; null where there is no number. */
export interface Range {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (number | null)[];
}

export interface Prometheus extends AsyncDisposable {
  /** Evaluates an expression as of now. Throws what Prometheus says is wrong with it. */
  query(expression: string): Promise<readonly Sample[]>;
  /** Evaluates an expression for the last seconds. */
  range(expression: string, over: { readonly seconds: number; readonly points: number }): Promise<readonly Range[]>;
  /** Whether the last scrape of the target worked, and why not. */
  target(): Promise<{ readonly health: string; readonly lastError: string }>;
}

/** A real Prometheus that scrapes one target five times a second, given as `host:port`. */
export async function startPrometheus(program: string, target: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-prometheus-"));
  const config = join(folder, "prometheus.yml");
  await writeFile(
    config,
    `global: { scrape_interval: 200ms, scrape_timeout: 200ms }\nscrape_configs: [{ job_name: toolyard, static_configs: [{ targets: ["${target}"] }] }]\n`,
  );
  const address = `127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, "data")}`];
  const child = spawn(program, [...args, `--web.listen-address=${address}`], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  let isGone = false;
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve())).then(() => (isGone = true));
  await until(async () => {
    if (isGone) throw new Error(`prometheus ended:\n${stderr}`);
    return await fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });

  async function ask(path: string): Promise<Record<string, unknown>> {
    const answer = (await (await fetch(`http://${address}/api/v1/${path}`)).json()) as Record<string, unknown>;
    if (answer["status"] !== "success") throw new Error(String(answer["error"]));
    return answer["data"] as Record<string, unknown>;
  }

  return {
    async query(expression) {
      const { result } = await ask(`query?query=${encodeURIComponent(expression)}`);
      return (result as { metric: Record<string, string>; value: [number, string] }[]).map(({ metric, value }) => ({
        metric,
        value: Number(value[1]),
      }));
    },
    async range(expression, { seconds, points }) {
      const end = Date.now() / 1_000;
      const step = seconds / points;
      const times = Array.from({ length: points }, (_, at) => end - seconds + (at + 1) * step);
      const question = new URLSearchParams({
        query: expression,
        start: String(times[0]),
        end: String(end),
        step: String(step),
      });
      const { result } = await ask(`query_range?${question.toString()}`);
      return (result as { metric: Record<string, string>; values: [number, string][] }[]).map(({ metric, values }) => ({
        metric,
        values: times.map((time) => {
          const [, value = "NaN"] = values.find(([at]) => Math.abs(at - time) < step / 2) ?? [];
          return Number.isFinite(Number(value)) ? Number(value) : null;
        }),
      }));
    },
    async target() {
      const { activeTargets } = await ask("targets");
      return (activeTargets as { health: string; lastError: string }[])[0] ?? { health: "unknown", lastError: "" };
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
