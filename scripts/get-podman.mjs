// Installs Debian's podman and docker unless they are there: the tests start servers in their containers. runc, because
// crun refuses machines whose control groups are of both versions.
import { execFileSync, spawnSync } from "node:child_process";

const programs = { podman: "podman", runc: "runc", dockerd: "docker.io" };
const missing = Object.entries(programs).flatMap(([program, name]) =>
  spawnSync(program, ["--version"]).status === 0 ? [] : [name],
);
if (missing.length > 0) {
  const install = () =>
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", ...missing], { stdio: "inherit" }).status === 0;
  // On a fresh machine, apt has no lists yet.
  if (!install()) {
    execFileSync("apt-get", ["update"], { stdio: "inherit" });
    if (!install()) throw new Error(`${missing.join(", ")} could not be installed with apt-get`);
  }
}
