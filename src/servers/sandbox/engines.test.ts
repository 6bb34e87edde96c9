import { describe, expect, test } from "vitest";
import type { SandboxRules } from "../../config/config.ts";
import { containerArguments, type ContainerShape } from "./container-arguments.ts";
import { seatbeltLacks, seatbeltProfile } from "./seatbelt.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";

const rules: SandboxRules = {
  ...{ read: [], write: [], roots: [], network: [], memoryMb: 512, processes: 16, tmpMb: 64, browser: false },
  ...{ engine: "docker", image: "node:22", isOptional: false },
};
const plan: SandboxPlan = {
  command: "node",
  visible: [
    { target: "/srv/in", source: "/srv/in", isWritable: false },
    { target: "/srv/out", source: "/data/out", isWritable: true },
  ],
  hidden: [
    { path: "/srv/in/.ssh", isFolder: true },
    { path: "/srv/in/.netrc", isFolder: false },
  ],
  notes: [],
};
const shape: ContainerShape = {
  ...{ kind: "docker", name: "toolyard-1-2-ab", label: "toolyard.data=x", rules, plan, home: "/d/home" },
  ...{ empty: "/d/empty", cwd: "/sandbox", args: ["server.js", "--flag"], user: "1000:1000", isRootless: false },
  variables: { said: { HOME: "/sandbox" }, inherited: { TOKEN: "secret" } },
  files: [],
};

describe("the command that makes a container", () => {
  test("has the image without rights, limits, the places of the plan, and no value of a variable", () =>
    expect(containerArguments(shape).join(" ")).toBe(
      "create --name toolyard-1-2-ab --label toolyard.data=x --interactive --rm --pull never " +
        "--read-only --cap-drop ALL --security-opt no-new-privileges --user 1000:1000 --network none " +
        "--memory 512m --memory-swap 512m --pids-limit 128 " +
        "--tmpfs /tmp:rw,exec,nosuid,nodev,size=64m,mode=1777 " +
        "--log-driver none --no-healthcheck --stop-timeout 0 --workdir /sandbox " +
        "--mount type=bind,source=/d/home,destination=/sandbox " +
        "--mount type=bind,source=/srv/in,destination=/srv/in,readonly " +
        "--mount type=bind,source=/data/out,destination=/srv/out " +
        "--mount type=bind,source=/d/empty,destination=/srv/in/.ssh,readonly " +
        "--mount type=bind,source=/dev/null,destination=/srv/in/.netrc,readonly " +
        "--env HOME=/sandbox --env TOKEN --entrypoint  node:22 node server.js --flag",
    ));

  test.each([
    ["names are no network of the engine", { rules: { ...rules, network: ["a.test"] } }, "--network none"],
    [
      "the network of this machine only where it is asked for",
      { rules: { ...rules, network: "host" } },
      "--network host",
    ],
    ["a browser has more shared memory", { rules: { ...rules, browser: true } }, "--shm-size 64m"],
    [
      "podman adds no folders and variables of its own",
      { kind: "podman" },
      "--http-proxy=false --read-only-tmpfs=false",
    ],
    ["podman without root keeps the user", { kind: "podman", isRootless: true }, "--userns keep-id"],
  ] as const)("%s", (_, changes, words) =>
    expect(containerArguments({ ...shape, ...changes }).join(" ")).toContain(words),
  );

  test.each(["/a,readonly=false", '/a"b', "/a\nb", "/a\rb"])("refuses the path %j, which would say more", (path) => {
    const visible = [{ target: path, source: path, isWritable: false }];
    expect(() => containerArguments({ ...shape, plan: { ...plan, visible } })).toThrow(/cannot bind/);
  });
});

/** Strings of a profile as its language reads them, and the rest without them. */
function read(profile: string): { readonly strings: string[]; readonly rest: string } {
  const strings: string[] = [];
  const rest = profile.replaceAll(/"((?:[^"\\]|\\.)*)"/gs, (_, text: string) => {
    strings.push(text.replaceAll(/\\(.)/gs, "$1"));
    return "S";
  });
  return { strings, rest };
}

describe("the profile for Seatbelt (written, not run)", () => {
  const profile = seatbeltProfile({ plan, folder: "/d", network: "none" });

  test("denies all that it does not allow: other reads and writes, the network, keys in a visible place", () => {
    const lines = profile.split("\n");
    expect(lines.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
    expect(profile).toContain("(deny network*)");
    expect(profile).not.toContain("(allow network");
    expect(profile).not.toMatch(/\(allow (?:default|file\*|file-write\*\))/);
    const writable = /\(allow file-write\*((?:\s+\((?:subpath|literal) "[^"]*"\))+)\)/.exec(profile)?.[1] ?? "";
    expect([...writable.matchAll(/"([^"]*)"/g)].map(([, path]) => path)).toEqual(["/data/out", "/d", "/dev/null"]);
    // Later rules win.
    expect(profile.indexOf('(subpath "/srv/in/.ssh")')).toBeGreaterThan(profile.indexOf('(subpath "/srv/in")'));
    expect(profile.indexOf("(deny file-read* file-write*")).toBeGreaterThan(profile.indexOf("(allow file-write*"));
    expect(profile.lastIndexOf("profile.sb")).toBeGreaterThan(profile.lastIndexOf("(allow file-read* file-write*"));
  });

  test("opens the network only where that is said", () =>
    expect(seatbeltProfile({ plan, folder: "/d", network: "host" })).toContain("(allow network*)"));

  test.each(['/a") (allow default) ("', "/a\\", '/a\\" (allow network*)', "/a\n(allow default)", "/ä;b"])(
    "the path %j is one string in it, whatever it contains",
    (path) => {
      const visible = [{ target: path, source: path, isWritable: true }];
      const hidden = [{ path: `${path}/x`, isFolder: true }];
      const plain = [{ target: "/p", source: "/p", isWritable: true }];
      const given = read(seatbeltProfile({ plan: { ...plan, visible, hidden }, folder: path, network: "none" }));
      const other = seatbeltProfile({
        plan: { ...plan, visible: plain, hidden: [{ path: "/p/x", isFolder: true }] },
        folder: "/p",
        network: "none",
      });
      expect(given.rest).toBe(read(other).rest);
      expect(given.strings).toContain(path);
      expect(given.strings).toContain(`${path}/x`);
    },
  );

  test.each([
    ["hosts by name", { network: ["*"] }, "by their names"],
    ["an image", { image: "node:22" }, "no image"],
    ["a browser", { browser: true }, "browser"],
    ["no network", {}, undefined],
    ["that of the machine", { network: "host" }, undefined],
  ] as const)("%s: what cannot be had is refused", (_, changes, why) => {
    const lack = seatbeltLacks({ ...rules, image: undefined, ...changes });
    if (why === undefined) expect(lack).toBeUndefined();
    else expect(lack?.why).toContain(why);
  });
});
