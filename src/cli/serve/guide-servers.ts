import { dirname } from "node:path";
import { marksOf } from "../../config/clients/import/command-marks.ts";
import type { ImportedEntry } from "../../config/clients/connect/client-entry.ts";
import { planImport, type PlannedServer } from "../../config/clients/import/import-plan.ts";
import { readClients, type FoundClient } from "../../config/clients/import/read-clients.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CommandContext } from "../command/command-context.ts";
import { exampleServers } from "../../operations/machine/servers/example-servers.ts";
import { findClients } from "../../operations/machine/clients/client-lines.ts";
import { askWhatToImport, planLines, serverLines } from "../import/import-text.ts";
import { withServers, type ImportTarget } from "../../operations/machine/clients/import-target.ts";
import { hideSecrets, secretValues, writtenEntry } from "../../operations/machine/clients/import-facts.ts";
import { givenTo } from "../../operations/machine/servers/added-server.ts";
import { createEntry, type EntrySource, type NewEntry } from "../../operations/machine/servers/new-entry.ts";
import { readKeptValues, type Surroundings } from "../../operations/machine/surroundings/surroundings.ts";
import { besideBar, printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { diffLines } from "../../kernel/text/text-diff.ts";
import { readTypedServer } from "../servers/server-input.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";

export interface GuideOptions {
  readonly context: CommandContext;
  readonly target: ImportTarget;
  readonly dataDir: string;
  readonly registryUrl: string;
}

/** The configuration as it is to be written, after a person said yes to it. */
export interface ChosenServers {
  readonly text: string;
  readonly servers: readonly (readonly [string, ImportedEntry])[];
  /** Of variables that the entries refer to, to be kept. */
  readonly values: Values;
}

type Values = Readonly<Record<string, string>>;

interface Asked extends GuideOptions {
  /** Variables that have a value: of the environment, and kept ones. */
  readonly known: Surroundings["env"];
}

/**
 * Asks what the gateway is to start with: servers of AI clients, the example servers, or one that is typed. Starts and
 * writes nothing. `none` where somebody wants no server yet, undefined for Ctrl-C.
 */
export async function chooseServers(given: GuideOptions): Promise<ChosenServers | "none" | undefined> {
  const options = { ...given, known: { ...(await readKeptValues(given.context)), ...given.context.env } };
  for (;;) {
    const found = await findAll(options.context);
    const way = await askWhichWay(found, options);
    if (way === undefined) return undefined;
    if (way === "none") return "none";
    const chosen = await ways[way](options, found);
    if (chosen === "gave up") return undefined;
    if (chosen === "back") continue;
    return chosen;
  }
}

async function findAll(context: CommandContext): Promise<readonly FoundClient[]> {
  return await whileWaiting("Reading the settings of AI clients", async () => await findClients(context));
}

type Way = "import" | "examples" | "typed";
type Found = Awaited<ReturnType<typeof readClients>>;

async function askWhichWay(found: Found, options: Asked): Promise<Way | "none" | undefined> {
  const { isCancel, select } = await import("@clack/prompts");
  const fresh = planned(found, options).servers.filter(({ presentAs }) => presentAs === undefined);
  const clients = new Set(fresh.flatMap(({ seen }) => seen.map(({ client }) => client)));
  const count = `${fresh.length} ${fresh.length === 1 ? "server" : "servers"}`;
  const way = await select<Way | "none">({
    message: "Which servers should it start with?",
    options: [
      ...(fresh.length === 0
        ? []
        : [
            {
              value: "import" as const,
              label: `Mine: ${count} of ${[...clients].join(", ")}`,
              hint: "you see each first",
            },
          ]),
      { value: "examples", label: "Three example servers", hint: "no account, nothing of yours is touched" },
      { value: "typed", label: "One that I type", hint: "a command or an address" },
      { value: "none", label: "None yet" },
    ],
  });
  return isCancel(way) ? undefined : way;
}

function planned(
  found: Found,
  { known, target: { present, sandboxMode, file } }: Asked,
): ReturnType<typeof planImport> {
  return planImport(found, { present, sandboxMode, env: known, directory: dirname(file) });
}

/** `back`: nothing is wrong, but the question is asked again. */
type Choice = ChosenServers | "back" | "gave up";

const ways: Readonly<Record<Way, (options: Asked, found: Found) => Promise<Choice>>> = {
  async import(options, found) {
    const plan = planned(found, options);
    show(planLines(plan, undefined));
    const fresh = plan.servers.filter(({ presentAs }) => presentAs === undefined);
    const choice = await askWhatToImport(fresh, undefined);
    if (choice === undefined) return "gave up";
    if (choice.servers.length === 0) return "back";
    const servers = choice.servers.map((server) => [server.key, writtenEntry(server, choice.secrets)] as const);
    return await confirmText(options, { servers, values: secretValues(choice) }, choice.servers);
  },
  async examples(options) {
    return await confirmEntries(options, { servers: exampleServers(options.dataDir), values: {} });
  },
  async typed(options) {
    const { isCancel, text: askText } = await import("@clack/prompts");
    const line = await askText({
      message: "The command with its arguments, or the address",
      placeholder: "npx -y @modelcontextprotocol/server-everything",
      validate(value) {
        const read = readTypedServer(value ?? "");
        return typeof read === "string" ? read : undefined;
      },
    });
    if (isCancel(line)) return "gave up";
    const read = readTypedServer(line);
    if (typeof read === "string") return "back";
    const taken = new Set(options.target.present.map(({ key }) => key));
    const name = await askText({
      message: "What should it be called?",
      initialValue: read.name,
      validate(value = "") {
        if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(value)) return "Letters, digits, dots and dashes.";
        return taken.has(value) ? "There is a server of this name already." : undefined;
      },
    });
    if (isCancel(name)) return "gave up";
    const made = await makeEntry(options, name, read.source);
    if (made === undefined) return "back";
    return await confirmEntries(options, { servers: [[name, made.entry]], values: givenTo(made) });
  },
};

/** A registry that does not answer must not hold anybody up for ever. */
const longestLookupMs = 60_000;

/** The same entry as `toolyard servers add` makes. Undefined where there is none to be had, after saying why. */
async function makeEntry(
  { context, target, registryUrl, known }: Asked,
  name: string,
  source: EntrySource,
): Promise<NewEntry | undefined> {
  const wanted = {
    name,
    source,
    env: [],
    headers: [],
    remoteKind: "http",
    literalSecrets: false,
    from: undefined,
  } as const;
  const { cwd, env: environment } = context;
  const surroundings = { registryUrl, cwd, folder: dirname(target.file), environment };
  try {
    const signal = AbortSignal.timeout(longestLookupMs);
    const look = async () => await createEntry(wanted, { ...surroundings, signal, ask: undefined, known: () => known });
    return await whileWaiting(`Looking for ${name}`, look);
  } catch (error) {
    const { log } = await import("@clack/prompts");
    const { message, hint } = toGatewayError(error);
    log.error(besideBar(plainText(`${message} ${hint}`)));
    return undefined;
  }
}

type Chosen = Pick<ChosenServers, "servers" | "values">;

/** Shows the commands as `toolyard import` does, with their marks, and asks. */
async function confirmEntries(options: Asked, chosen: Chosen): Promise<Choice> {
  const shown = chosen.servers.map(([key, entry]) => toPlanned(key, entry));
  const width = Math.max(...chosen.servers.map(([key]) => key.length));
  show(shown.flatMap((server) => serverLines(server, width, "keep")));
  return await confirmText(options, chosen, shown);
}

function toPlanned(key: string, entry: ImportedEntry): PlannedServer {
  const nothing = { seen: [], presentAs: undefined, secrets: [], missing: [], notes: [] };
  return { key, literal: entry, entry, marks: marksOf(entry), isPreselected: true, ...nothing };
}

async function confirmText({ target }: Asked, chosen: Chosen, shown: readonly PlannedServer[]): Promise<Choice> {
  const { isCancel, log, note, select } = await import("@clack/prompts");
  const text = withServers(target, chosen.servers);
  const lines = hideSecrets(diffLines(target.text ?? "", text), shown).map(plainText);
  const changed = lines.filter((line) => /^[+-]/.test(line)).length;
  const unfold = { value: "show" as const, label: "Show the lines first" };
  for (let isShown = false; ; isShown = true) {
    const answer = await select<"yes" | "show" | "no">({
      message: besideBar(`Write this to ${plainText(target.file)}?`),
      options: [
        { value: "yes", label: "Yes", hint: `${target.text === undefined ? "a new file of " : ""}${changed} lines` },
        ...(isShown ? [] : [unfold]),
        { value: "no", label: "No" },
      ],
    });
    if (isCancel(answer)) return "gave up";
    if (answer === "yes") return { text, ...chosen };
    if (answer === "no") {
      log.info("Nothing was changed.");
      return "back";
    }
    note(lines.join("\n"), plainText(target.file));
  }
}

function show(lines: readonly string[]): void {
  printText(process.stdout, `\n${lines.map(plainText).join("\n")}\n`, "    ");
}
