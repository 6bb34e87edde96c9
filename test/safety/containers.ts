import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "../harness/until.ts";

export const image = "localhost/toolyard-test:node";

/** An engine with a storage of its own, and an image in it that has Node and nothing else. */
export interface Engine {
  readonly env: Readonly<Record<string, string>>;
  run(...words: string[]): string;
  close(): Promise<void>;
}

/** Starts one: podman needs no daemon, docker gets one of its own. */
export async function openEngine(kind: "docker" | "podman"): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), `toolyard-${kind}-`));
  const daemon = kind === "docker" ? startDaemon(folder) : undefined;
  const env: Record<string, string> =
    kind === "docker" ? { DOCKER_HOST: `unix://${folder}/socket` } : podmanSettings(folder);
  const run = (...words: string[]): string =>
    execFileSync(kind, words, { env: { ...process.env, ...env }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  await until(() => spawnSync(kind, ["info"], { env: { ...process.env, ...env } }).status === 0);
  run("import", packImage(folder), image);
  return {
    env,
    run,
    async close() {
      const left = run("ps", "--all", "--quiet")
        .split("\n")
        .filter((id) => id !== "");
      if (left.length > 0) run("rm", "--force", ...left);
      if (daemon !== undefined) {
        const ended = new Promise((resolve) => daemon.once("exit", resolve));
        daemon.kill("SIGTERM");
        await ended;
        // It leaves a network namespace mounted.
        spawnSync("umount", ["--recursive", `${folder}/exec/netns/default`]);
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startDaemon(folder: string): ChildProcess {
  const places = ["--data-root", `${folder}/data`, "--exec-root", `${folder}/exec`, "--pidfile", `${folder}/pid`];
  const network = ["--bridge=none", "--iptables=false", "--ip6tables=false"];
  return spawn("dockerd", ["-H", `unix://${folder}/socket`, ...places, ...network, "--storage-driver", "vfs"], {
    stdio: "ignore",
  });
}

function podmanSettings(folder: string): Record<string, string> {
  const settings = join(folder, "containers.conf");
  const storage = join(folder, "storage.conf");
  // Limits above those of this process take a right that root lacks in some virtual machines.
  const limits = `[containers]\ndefault_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]\n`;
  writeFileSync(settings, `${limits}[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n`);
  writeFileSync(
    storage,
    `[storage]\ndriver = "vfs"\ngraphroot = ${JSON.stringify(`${folder}/graph`)}\nrunroot = ${JSON.stringify(`${folder}/run`)}\n`,
  );
  return { CONTAINERS_CONF: settings, CONTAINERS_STORAGE_CONF: storage };
}

/** Node with its libraries. No registry is asked. */
function packImage(folder: string): string {
  const root = join(folder, "root");
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" }).match(/\/\S+/g) ?? [];
  for (const [source, target] of [[process.execPath, "/usr/bin/node"], ...libraries.map((file) => [file, file])]) {
    const place = join(root, target ?? "");
    mkdirSync(dirname(place), { recursive: true });
    copyFileSync(source ?? "", place);
  }
  for (const name of ["tmp", "proc", "dev", "sys", "etc", "bin"]) mkdirSync(join(root, name), { recursive: true });
  symlinkSync("/usr/bin/node", join(root, "bin/node"));
  const file = join(folder, "image.tar");
  execFileSync("tar", ["-C", root, "-cf", file, "."]);
  return file;
}
