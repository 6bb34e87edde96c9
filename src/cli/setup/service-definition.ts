import { posix, win32 } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** What a service manager has to know. All paths are absolute. */
export interface ServiceFacts {
  /** The Node that runs, and the program's file. */
  readonly node: string;
  readonly mainFile: string;
  readonly args: readonly string[];
  /** The folder that it runs in. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The file for output outside the log, where the manager itself keeps none. */
  readonly outputFile: string;
}

export type ServiceSystem = "linux" | "darwin" | "win32";

/** Where services of one user stand. */
export interface ServicePlaces {
  readonly system: ServiceSystem;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ours, for what the system has no folder for. */
  readonly dataDir: string;
}

/** A service as its manager wants it. */
export interface ServiceDefinition {
  readonly file: string;
  readonly text: string;
  /** How the file is written: schtasks wants UTF-16 with a byte-order mark. */
  readonly bytes: Buffer;
  /** Commands that make the manager take the file, and start the service. */
  readonly install: readonly ServiceStep[];
  /** Commands that end it; the file is removed afterwards. */
  readonly remove: readonly ServiceStep[];
  readonly status: ServiceStep;
}

export interface ServiceStep {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether it may fail: there may be nothing to end. */
  readonly mayFail?: true;
}

export const serviceName = "toolyard";
const launchdLabel = "toolyard.gateway";
/** A wrong configuration or command line does not become right by itself. */
const wrongUsage = 2;

/** The definition for one system. Throws CONFIG_INVALID for a path that its format cannot hold. */
export function defineService(facts: ServiceFacts, places: ServicePlaces): ServiceDefinition {
  const texts = [facts.node, facts.mainFile, ...facts.args, facts.directory, ...Object.values(facts.environment)];
  // oxlint-disable-next-line no-control-regex -- none of the three formats has room for them
  const bad = texts.find((text) => /[\u0000-\u001f\u007f]/.test(text));
  if (bad !== undefined)
    throw new GatewayError("CONFIG_INVALID", `a service cannot hold ${JSON.stringify(bad)}`, {
      hint: "Name a path without control characters.",
    });
  return { linux: systemdUnit, darwin: launchdPlist, win32: windowsTask }[places.system](facts, places);
}

function systemdUnit(facts: ServiceFacts, { home, env }: ServicePlaces): ServiceDefinition {
  const given = env["XDG_CONFIG_HOME"];
  const config = given !== undefined && posix.isAbsolute(given) ? given : posix.join(home, ".config");
  const environment = Object.entries(facts.environment).map(
    ([name, value]) => `Environment=${unitWord(`${name}=${value}`)}`,
  );
  const words = [facts.node, facts.mainFile, ...facts.args].map((word) => unitWord(word).replaceAll("$", "$$$$"));
  const text = `[Unit]
Description=Toolyard, an MCP gateway
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
ExecStart=${words.join(" ")}
WorkingDirectory=${facts.directory.replaceAll("%", "%%")}
${environment.join("\n")}
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=${wrongUsage}
KillMode=mixed
TimeoutStopSec=35

[Install]
WantedBy=default.target
`;
  const unit = `${serviceName}.service`;
  const systemctl = (...args: readonly string[]): ServiceStep => ({ command: "systemctl", args: ["--user", ...args] });
  return {
    file: posix.join(config, "systemd", "user", unit),
    text,
    bytes: Buffer.from(text),
    install: [systemctl("daemon-reload"), systemctl("enable", unit), systemctl("restart", unit)],
    remove: [{ ...systemctl("disable", "--now", unit), mayFail: true }],
    status: systemctl("status", "--no-pager", "--lines=5", unit),
  };
}

/** A word of a unit: quoted, with what systemd would replace written twice. */
function unitWord(word: string): string {
  return `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}

function launchdPlist(facts: ServiceFacts, { home }: ServicePlaces): ServiceDefinition {
  const string = (text: string): string => `<string>${xmlText(text)}</string>`;
  const environment = Object.entries(facts.environment).map(
    ([name, value]) => `    <key>${xmlText(name)}</key>\n    ${string(value)}\n`,
  );
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${string(launchdLabel)}
  <key>ProgramArguments</key>
  <array>
${[facts.node, facts.mainFile, ...facts.args].map((word) => `    ${string(word)}\n`).join("")}  </array>
  <key>WorkingDirectory</key>
  ${string(facts.directory)}
  <key>EnvironmentVariables</key>
  <dict>
${environment.join("")}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>35</integer>
  <key>StandardOutPath</key>
  ${string(facts.outputFile)}
  <key>StandardErrorPath</key>
  ${string(facts.outputFile)}
</dict>
</plist>
`;
  const file = posix.join(home, "Library", "LaunchAgents", `${launchdLabel}.plist`);
  const domain = `gui/${process.getuid?.() ?? 501}`;
  const launchctl = (...args: readonly string[]): ServiceStep => ({ command: "launchctl", args });
  const bootout: ServiceStep = { ...launchctl("bootout", `${domain}/${launchdLabel}`), mayFail: true };
  return {
    file,
    text,
    bytes: Buffer.from(text),
    install: [bootout, launchctl("bootstrap", domain, file)],
    remove: [bootout],
    status: launchctl("print", `${domain}/${launchdLabel}`),
  };
}

function windowsTask(facts: ServiceFacts, { dataDir, env }: ServicePlaces): ServiceDefinition {
  const user = [env["USERDOMAIN"], env["USERNAME"]].filter((part) => part !== undefined && part !== "").join("\\");
  const who = user === "" ? "" : `\n      <UserId>${xmlText(user)}</UserId>`;
  const words = [facts.mainFile, ...facts.args].map(windowsWord).join(" ");
  // A task has no variables of its own: it gets those of its user.
  const text = `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Toolyard, an MCP gateway</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>${who}
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">${who}
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Hidden>true</Hidden>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>10</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${xmlText(facts.node)}</Command>
      <Arguments>${xmlText(words)}</Arguments>
      <WorkingDirectory>${xmlText(facts.directory)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`;
  const file = win32.join(dataDir, "toolyard-task.xml");
  const schtasks = (...args: readonly string[]): ServiceStep => ({ command: "schtasks", args });
  return {
    file,
    text,
    bytes: Buffer.from(`\ufeff${text.replaceAll("\n", "\r\n")}`, "utf16le"),
    install: [schtasks("/Create", "/TN", "Toolyard", "/XML", file, "/F"), schtasks("/Run", "/TN", "Toolyard")],
    remove: [
      { ...schtasks("/End", "/TN", "Toolyard"), mayFail: true },
      { ...schtasks("/Delete", "/TN", "Toolyard", "/F"), mayFail: true },
    ],
    status: schtasks("/Query", "/TN", "Toolyard", "/V", "/FO", "LIST"),
  };
}

/** As CommandLineToArgvW reads it. */
function windowsWord(word: string): string {
  if (word !== "" && !/[\s"]/.test(word)) return word;
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}

function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
