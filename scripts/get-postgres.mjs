// Installs Debian's PostgreSQL unless there is one already: the tests start servers of their own with its programs.
// No cluster is made, so that none of Debian's runs.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";

const root = "/usr/lib/postgresql";
const oldest = 15;

function isThere() {
  const versions = existsSync(root) ? readdirSync(root).filter((name) => Number(name) >= oldest) : [];
  return versions.some((name) => spawnSync(`${root}/${name}/bin/initdb`, ["--version"]).status === 0);
}

function install() {
  const { status } = spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "postgresql"], {
    stdio: "inherit",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  return status === 0;
}

if (!isThere()) {
  mkdirSync("/etc/postgresql-common", { recursive: true });
  writeFileSync("/etc/postgresql-common/createcluster.conf", "create_main_cluster = false\n");
  // On a fresh machine, apt has no lists yet.
  if (!install()) {
    execFileSync("apt-get", ["update"], { stdio: "inherit" });
    install();
  }
  if (!isThere()) throw new Error(`PostgreSQL ${oldest} could not be installed with apt-get`);
}
