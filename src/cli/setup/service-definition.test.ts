import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { defineService, type ServiceDefinition, type ServiceFacts, type ServiceSystem } from "./service-definition.ts";

const folder = mkdtempSync(join(tmpdir(), "toolyard-service-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Everything that some format treats in a way of its own. */
const odd = 'a b%h$HOME"q"\\z<&>é';

const facts: ServiceFacts = {
  node: process.execPath,
  mainFile: `/opt/${odd}/main.js`,
  args: ["serve", "--config", `/home/me/${odd}/toolyard.json`, "--data-dir", "/home/me/data"],
  directory: "/home/me",
  environment: { PATH: `/usr/bin:/home/me/${odd}` },
  outputFile: "/home/me/data/service.log",
};

function define(system: ServiceSystem, env: Record<string, string> = {}): ServiceDefinition {
  return defineService(facts, { system, home: "/home/me", env, dataDir: "/home/me/data" });
}

describe("the systemd unit", () => {
  const { text, file } = define("linux");
  const value = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(text)?.[1] ?? "";

  test("stands where systemd looks for those of a user, also where XDG moved that", () => {
    expect(file).toBe("/home/me/.config/systemd/user/toolyard.service");
    expect(define("linux", { XDG_CONFIG_HOME: "/x" }).file).toBe("/x/systemd/user/toolyard.service");
    expect(define("linux", { XDG_CONFIG_HOME: "relative" }).file).toBe(file);
  });

  test("starts exactly the words that it was given, by systemd's rules", () => {
    expect(unitWords(value("ExecStart"), true)).toEqual([facts.node, facts.mainFile, ...facts.args]);
    expect(unitWords(value("Environment"), false)).toEqual([`PATH=${facts.environment["PATH"]}`]);
  });

  test("starts again after a failure, but not where the configuration is wrong", () => {
    expect(value("Restart")).toBe("on-failure");
    expect(value("RestartPreventExitStatus")).toBe("2");
  });

  const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
  test.skipIf(!hasSystemd)("systemd itself finds nothing wrong with it", () => {
    const main = join(folder, 'odd %h $x "q"');
    writeFileSync(main, "");
    const plain = defineService(
      { ...facts, mainFile: main, directory: folder },
      { system: "linux", home: folder, env: {}, dataDir: folder },
    );
    const unit = join(folder, "toolyard.service");
    writeFileSync(unit, plain.text);
    expect(verify(unit)).toBe("");
    // Otherwise silence would mean nothing.
    writeFileSync(unit, plain.text.replace("Restart=on-failure", "Restart=now-and-then"));
    expect(verify(unit)).toContain("now-and-then");
  });
});

/** What systemd-analyze says about a unit, without what it says of other units of the machine. */
function verify(unit: string): string {
  const { stderr } = spawnSync("systemd-analyze", ["--user", "verify", "--man=no", unit], {
    env: { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder },
    encoding: "utf8",
  });
  return stderr
    .split("\n")
    .filter((line) => line.includes("toolyard.service"))
    .join("\n");
}

/** Reads words as systemd does (systemd.service, "Command lines"; systemd.syntax, "Quoting"). */
function unitWords(line: string, isCommand: boolean): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, inner = ""]) => {
    const word = inner.replace(/\\(.)/g, "$1");
    // A specifier or variable that is left would be replaced.
    expect(word.replaceAll("%%", "")).not.toContain("%");
    if (isCommand) expect(word.replaceAll("$$", "")).not.toContain("$");
    const plain = word.replaceAll("%%", "%");
    return isCommand ? plain.replaceAll("$$", "$") : plain;
  });
}

describe("the launch agent", () => {
  test("is a property list with the words, the variables, and a restart after failures only", () => {
    const { text, file } = define("darwin");
    expect(file).toBe("/home/me/Library/LaunchAgents/toolyard.gateway.plist");
    expect(readPlist(text)).toEqual({
      Label: "toolyard.gateway",
      ProgramArguments: [facts.node, facts.mainFile, ...facts.args],
      WorkingDirectory: facts.directory,
      EnvironmentVariables: facts.environment,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 10,
      ExitTimeOut: 35,
      StandardOutPath: facts.outputFile,
      StandardErrorPath: facts.outputFile,
    });
  });
});

/** Python has a reader of property lists, which is the one that other programs on Linux use for them. */
function readPlist(text: string): unknown {
  const program = "import sys,json,plistlib; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))";
  return JSON.parse(execFileSync("python3", ["-c", program], { input: text }).toString());
}

describe("the scheduled task", () => {
  const { bytes, install } = define("win32", { USERDOMAIN: "DESK", USERNAME: "me & co" });
  const task = readXml(bytes);

  test("is UTF-16 with a byte-order mark, which schtasks wants, and says so", () => {
    expect([...bytes.subarray(0, 2)]).toEqual([0xff, 0xfe]);
    expect(bytes.toString("utf16le")).toContain('<?xml version="1.0" encoding="UTF-16"?>\r\n');
  });

  test("starts exactly the words that it was given, by the rules of Windows", () => {
    expect(task["Actions/Exec/Command"]).toBe(facts.node);
    expect(windowsWords(task["Actions/Exec/Arguments"] ?? "")).toEqual([facts.mainFile, ...facts.args]);
  });

  test("runs for its user when that logs in, with no limit of time, and again after a failure", () => {
    expect(task["Triggers/LogonTrigger/UserId"]).toBe("DESK\\me & co");
    expect(task["Principals/Principal/RunLevel"]).toBe("LeastPrivilege");
    expect(task["Settings/ExecutionTimeLimit"]).toBe("PT0S");
    expect(task["Settings/RestartOnFailure/Count"]).toBe("10");
    expect(install.map(({ args }) => args[0])).toEqual(["/Create", "/Run"]);
  });

  test("has its settings in the order that its schema wants", () => {
    const order = Object.keys(task).map((path) => path.split("/")[0]);
    expect([...new Set(order)]).toEqual(["RegistrationInfo", "Triggers", "Principals", "Settings", "Actions"]);
  });
});

/** The texts of an XML document by their paths below the root, read by a real parser. */
function readXml(bytes: Buffer): Record<string, string> {
  const program = `
import sys, json, xml.etree.ElementTree as tree
found = {}
def walk(node, path):
    for child in node:
        name = path + child.tag.split("}")[1]
        if len(child) == 0: found[name] = child.text
        walk(child, name + "/")
walk(tree.fromstring(sys.stdin.buffer.read()), "")
print(json.dumps(found))`;
  return JSON.parse(execFileSync("python3", ["-c", program], { input: bytes }).toString()) as Record<string, string>;
}

/** Splits a command line as CommandLineToArgvW does. */
function windowsWords(line: string): string[] {
  const words: string[] = [];
  let word = "";
  let isQuoted = false;
  let isOpen = false;
  for (const [, slashes = "", mark, other] of line.matchAll(/(\\*)(?:(")|([^\\"]|$))/g)) {
    word += mark === undefined ? slashes : "\\".repeat(Math.floor(slashes.length / 2));
    isOpen ||= slashes !== "";
    if (mark !== undefined && slashes.length % 2 === 1) word += '"';
    else if (mark !== undefined) isQuoted = !isQuoted;
    if (mark !== undefined) isOpen = true;
    if (other === undefined) continue;
    if (other !== "" && (isQuoted || !/\s/.test(other))) {
      word += other;
      isOpen = true;
    } else {
      if (isOpen) words.push(word);
      word = "";
      isOpen = false;
    }
  }
  return words;
}

test("control characters, which no format holds, are refused", () => {
  for (const system of ["linux", "darwin", "win32"] as const)
    expect(() =>
      defineService(
        { ...facts, mainFile: "/a\nExecStartPre=/bin/evil" },
        { system, home: "/h", env: {}, dataDir: "/d" },
      ),
    ).toThrow(/a service cannot hold/);
});
