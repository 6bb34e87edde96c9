/** The two teams of the world. */
export const colours = ["red", "blue"] as const;
export type Colour = (typeof colours)[number];

/** In everything that a team gives itself: names, titles, labels, values, arguments. */
export const canaryOf = (colour: Colour): string => `canary-${colour}-7f3a`;
export const otherOf = (colour: Colour): Colour => (colour === "red" ? "blue" : "red");

/** An answer of the gateway. */
export interface Told {
  readonly status: number;
  readonly text: string;
  /** The MCP session that it opened. */
  readonly session: string | undefined;
}

// oxlint-disable-next-line typescript/no-explicit-any -- whoever asks looks into whatever came back
export const json = ({ text }: Told): any => JSON.parse(text);

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export type Ask = (asked: Asked) => Promise<Told>;

/** What somebody of a team asks with. */
export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** A browser of somebody who is in both teams. */
  readonly isOfBoth: boolean;
}

/** What the world knows of both teams. */
export interface Known {
  /** Of a team: tokens of its owner, an admin, a member and somebody who is in both; browsers of two of them. */
  readonly credentials: Record<Colour, Credential[]>;
  /** Ids that there are or were, by kind, of each team: also those that were taken away. */
  readonly ids: Record<Colour, Record<Kind, string[]>>;
  /** Memberships, browsers and sessions of those who act: nobody of their own team takes them away. */
  readonly lasting: Set<string>;
  /** Browsers of somebody who is in both teams: theirs to end, for whichever team they ask. */
  readonly ofBoth: Set<string>;
}

export const kinds = [
  ...(["members", "tokens", "invites", "instances", "calls", "installations"] as const),
  ...(["searches", "browsers", "sessions"] as const),
] as const;
export type Kind = (typeof kinds)[number];

export function createKnown(): Known {
  const empty = (): Record<Kind, string[]> => ({
    ...{ members: [], tokens: [], invites: [] },
    ...{ instances: [], calls: [], installations: [] },
    ...{ searches: [], browsers: [], sessions: [] },
  });
  return {
    credentials: { red: [], blue: [] },
    ids: { red: empty(), blue: empty() },
    lasting: new Set(),
    ofBoth: new Set(),
  };
}

/** One of some, by chance. */
export type Random = <Item>(items: readonly Item[]) => Item | undefined;

/** A request, before anybody is chosen to send it. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the answer tells of ids. */
  readonly learn?: (told: Told) => void;
}

/** What somebody of a team may think of: with ids of either team, and with such as there never were. */
export function think({ ids, lasting, ofBoth }: Known, colour: Colour, pick: Random): Step {
  const canary = canaryOf(colour);
  const team = pick([colour, colour, otherOf(colour), "operators", "nix"]) ?? colour;
  const of = (kind: Kind): string => {
    const known = pick([colour, otherOf(colour)]) ?? colour;
    const choices = ids[known][kind].filter((id) => !ofBoth.has(id) && (known !== colour || !lasting.has(id)));
    return encodeURIComponent(pick([...choices.slice(-50), `${kind[0] ?? ""}_0`]) ?? "nothing");
  };
  const isSeldom = pick([true, ...Array.from({ length: 19 }, () => false)]) === true;
  const installed = (): string => pick(["mail", "common", of("installations")]) ?? "mail";
  const learn =
    (kind: Kind, from: (value: ReturnType<typeof json>) => unknown[]) =>
    (told: Told): void => {
      if (told.status === 200 || told.status === 201) ids[colour][kind].push(...from(json(told)).map(String));
    };
  const list = (name: string, kind: Kind) => learn(kind, (value) => value[name].map((one: { id: string }) => one.id));
  const steps: (() => Step)[] = [
    () => ({ method: "GET", path: "/api/me" }),
    () => ({ method: "GET", path: pick(["/api/teams", `/api/teams/${team}`, "/api/users", "/api/status"]) ?? "" }),
    () => ({ method: "GET", path: `/api/teams/${team}/members`, learn: list("members", "members") }),
    () => ({ method: "GET", path: `/api/teams/${team}/members/${of("members")}` }),
    () => ({ method: "DELETE", path: `/api/teams/${team}/members/${of("members")}` }),
    () => ({ method: "PATCH", path: `/api/teams/${team}/members/${of("members")}`, body: { role: "member" } }),
    () => ({ method: "PATCH", path: `/api/teams/${team}`, body: { title: `${canary} title` } }),
    () => ({
      method: "POST",
      path: "/api/me/tokens",
      body: { name: canary, scopes: ["mcp:read"] },
      learn: learn("tokens", ({ id }) => [id]),
    }),
    () => ({ method: "DELETE", path: `/api/me/tokens/${of("tokens")}` }),
    () => ({ method: "GET", path: `/api/me/tokens/${of("tokens")}` }),
    () => ({
      method: "POST",
      path: `/api/teams/${team}/invites`,
      body: { about: canary },
      learn: learn("invites", ({ id }) => [id]),
    }),
    () => ({ method: "GET", path: `/api/teams/${team}/invites` }),
    () => ({ method: "DELETE", path: `/api/teams/${team}/invites/${of("invites")}` }),
    () => ({ method: "GET", path: "/api/instances", learn: list("instances", "instances") }),
    () => ({ method: "GET", path: `/api/instances/${of("instances")}` }),
    () => ({ method: "GET", path: `/api/instances/${of("instances")}/${pick(["logs", "events"]) ?? ""}` }),
    () => ({ method: "POST", path: "/execute/own%3Aenv" }),
    () => ({ method: "POST", path: "/execute/own%3Aecho", body: { text: canary } }),
    () => ({ method: "POST", path: "/execute/own%3Aenvv" }),
    () => ({
      method: "GET",
      path: `/api/calls?limit=5${pick(["", `&team=${team}`]) ?? ""}`,
      learn: list("calls", "calls"),
    }),
    () => ({ method: "GET", path: `/api/calls/${of("calls")}` }),
    () => ({ method: "GET", path: `/api/calls?limit=5&instance=${of("instances")}` }),
    () => ({ method: "GET", path: `/api/usage?by=principal,instance,team${pick(["", `&team=${team}`]) ?? ""}` }),
    () => ({ method: "GET", path: "/api/usage/minutes" }),
    () => ({ method: "GET", path: `/api/usage/tokens?principal=${of("members")}` }),
    () => ({
      method: "GET",
      path: `/api/audit?limit=5${pick(["", `&team=${team}`, `&actor=${of("members")}`]) ?? ""}`,
    }),
    ...askOfOneself({ team, canary, of, list, learn, pick, foreign: ids[otherOf(colour)], own: ids[colour] }),
    () => ({ method: "GET", path: `/api/logs?instance=${of("instances")}` }),
    () => ({ method: "POST", path: "/api/search", body: { query: pick(["canary", "environment", "echo"]) } }),
    () => ({ method: "GET", path: pick(["/api/tools", "/api/servers", "/list/apps", "/api/namespaces/stats"]) ?? "" }),
    () => ({
      method: "POST",
      path: "/mcp",
      body: { jsonrpc: "2.0", id: 1, method: pick(["tools/list", "resources/list", "ping"]), params: {} },
    }),
    () => ({ method: "GET", path: `/api/teams/${team}/installations`, learn: list("installations", "installations") }),
    () => ({ method: "GET", path: `/api/teams/${team}/installations/${installed()}` }),
    () => ({
      method: "PATCH",
      path: `/api/teams/${team}/installations/${installed()}`,
      body: { name: `${canary} again` },
    }),
    () => ({ method: "GET", path: `/api/teams/${team}/installations/${installed()}/config/${pick(["team", "me"])}` }),
    // Seldom: each change of values starts servers anew.
    () => ({
      method: isSeldom ? "PATCH" : "GET",
      path: `/api/teams/${team}/installations/${installed()}/config/team`,
      body: { values: { "env.CANARY": `${canary} of the team` } },
    }),
    () => ({
      method: isSeldom ? "PATCH" : "GET",
      path: `/api/teams/${team}/installations/${installed()}/config/me`,
      body: { values: { "env.KEY": canary } },
    }),
    () => ({ method: "GET", path: `/api/teams/${team}/installations/${installed()}/instances` }),
    () => ({ method: "GET", path: `/api/teams/${team}/installations/${installed()}/members/${of("members")}/config` }),
    () => ({ method: "GET", path: `/api/teams/${team}/secrets` }),
    () => ({ method: "PUT", path: `/api/teams/${team}/secrets/${canary}`, body: { value: canary } }),
    () => ({ method: "GET", path: `/api/templates${pick(["", `?team=${team}`]) ?? ""}` }),
    () => ({ method: "POST", path: "/api/templates", body: { slug: "own", team, entry: { url: 7 } } }),
    () => ({ method: "POST", path: "/execute/common%3Aenv" }),
    () => ({ method: "POST", path: "/execute/mail%3Aenv" }),
    () => ({ method: "POST", path: "/execute/mail%3Acanary" }),
    () => ({ method: "GET", path: `/api/calls?limit=5&installation=${of("installations")}` }),
    () => ({ method: "GET", path: `/api/usage?by=installation&installation=${of("installations")}` }),
  ];
  return pick(steps)?.() ?? { method: "GET", path: "/api/me" };
}

interface Thinking {
  readonly team: string;
  readonly canary: string;
  readonly pick: Random;
  readonly own: Record<Kind, string[]>;
  readonly foreign: Record<Kind, string[]>;
  of(kind: Kind): string;
  list(name: string, kind: Kind): NonNullable<Step["learn"]>;
  learn(kind: Kind, from: (value: ReturnType<typeof json>) => unknown[]): NonNullable<Step["learn"]>;
}

/** What belongs to a single person: searches that are kept, browsers, sessions, usage, and what helps support. */
function askOfOneself({ team, canary, of, list, learn, pick, own, foreign }: Thinking): (() => Step)[] {
  const inSession = (id: string | undefined): Record<string, string> => ({ "mcp-session-id": id ?? "s_0" });
  const by = pick(["principal", "tool,client", "server,instance", "team", "installation,tool,client"]) ?? "";
  const filter = pick([
    ...["", `&team=${team}`, `&principal=${of("members")}`, `&instance=${of("instances")}`],
    ...[`&installation=${of("installations")}`, `&client=${canary}`, "&tool=env"],
  ]);
  return [
    () => ({ method: "GET", path: "/api/searches", learn: list("searches", "searches") }),
    () => ({
      method: "POST",
      path: "/api/searches",
      // The same words twice are one search: a person would soon have no more than one.
      body: { query: `${canary} ${pick(keptWords) ?? ""}`, tool: pick(["own:env", "mail:canary", "common:env"]) },
      learn: learn("searches", ({ id }) => [id]),
    }),
    () => ({ method: "POST", path: "/api/searches/run" }),
    () => ({ method: "DELETE", path: `/api/searches/${of("searches")}` }),
    () => ({ method: "GET", path: "/api/me/sessions", learn: list("sessions", "browsers") }),
    () => ({ method: "DELETE", path: `/api/me/sessions/${of("browsers")}` }),
    () => ({ method: "GET", path: pick(["/api/me/apps", "/api/session", "/api/session/login"]) ?? "" }),
    () => ({ method: "GET", path: "/api/sessions" }),
    () => ({ method: "DELETE", path: `/api/sessions/${pick([of("browsers"), of("sessions")]) ?? ""}` }),
    () => ({ method: pick(["GET", "DELETE"]) ?? "", path: `/api/users/${of("members")}/sessions` }),
    () => ({ method: "GET", path: `/api/usage?by=${by}${filter ?? ""}&format=${pick(["json", "csv"]) ?? ""}` }),
    () => ({
      method: "GET",
      path: pick(["/api/support", "/api/doctor", "/api/status/debug", "/api/status/activity"]) ?? "",
    }),
    () => ({
      method: "POST",
      path: "/mcp",
      headers: inSession(pick([pick(own.sessions), pick(foreign.sessions)])),
      body: { jsonrpc: "2.0", id: 1, method: pick(["tools/list", "resources/list", "ping"]), params: {} },
    }),
    () => ({
      method: "POST",
      path: "/mcp",
      headers: inSession(pick(own.sessions)),
      body: {
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: "execute_mcp_tool", arguments: { tool_path: "own:env", arguments: {} } },
      },
    }),
    // Their own they keep, so that at the end it is seen whether somebody else ended one.
    () => ({ method: "DELETE", path: "/mcp", headers: inSession(pick([pick(foreign.sessions), "s_0"])) }),
  ];
}

/** Few enough that a person's searches stay within what is kept for one. */
const keptWords = Array.from({ length: 30 }, (_, at) => `reads the environment, number ${at}`);
