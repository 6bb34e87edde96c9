import { expect, test } from "vitest";
import { planServers } from "./team-import-plan.ts";

const nothing = { taken: new Map<string, string>(), secrets: new Set<string>() };

/** What becomes of one argument, and which secrets it takes. */
function planned(text: string, env: Readonly<Record<string, string>> = {}, secrets: readonly string[] = []) {
  const written = { command: "server", args: [text] };
  const known = { ...nothing, secrets: new Set(secrets), env };
  const [server] = planServers([{ key: "mail", written }], known);
  if (server === undefined) throw new Error("nothing is planned");
  const { entry, secrets: made, kept, missing } = server;
  return { text: (entry["args"] as string[])[0], made: Object.fromEntries(made), kept, missing };
}

test("a variable becomes a secret with its value, one that is not set somebody has to give", () => {
  expect(planned("${PLACE}", { PLACE: "Ulm" })).toMatchObject({ text: "${secret:PLACE}", made: { PLACE: "Ulm" } });
  expect(planned("a ${env:PLACE} b")).toMatchObject({ text: "a ${secret:PLACE} b", missing: ["PLACE"] });
  expect(planned("${PLACE}", { PLACE: "Ulm" }, ["PLACE"])).toMatchObject({ made: {}, kept: ["PLACE"] });
});

test("a default counts as in the configuration: nested, with braces, and where a variable is empty", () => {
  expect(planned("${PLACE:-Ulm}", { PLACE: "" })).toMatchObject({ text: "Ulm", made: {}, missing: [] });
  expect(planned("${PLACE:-${TOWN:-Ulm}}!")).toMatchObject({ text: "Ulm!", missing: [] });
  expect(planned("${PLACE:-${TOWN}}", { TOWN: "Bonn" })).toMatchObject({
    text: "${secret:TOWN}",
    made: { TOWN: "Bonn" },
  });
  expect(planned('${PLACE:-{"a":"}"}}x').text).toBe('{"a":"}"}x');
});

test("names are those of the configuration: with dots and dashes, inputs of VS Code, and a separator that stays", () => {
  expect(planned("${my.place-2}", { "my.place-2": "Ulm" }).text).toBe("${secret:my.place-2}");
  expect(planned("${input:api-key}", { TOOLYARD_INPUT_API_KEY: "k" })).toMatchObject({
    text: "${secret:TOOLYARD_INPUT_API_KEY}",
    made: { TOOLYARD_INPUT_API_KEY: "k" },
  });
  expect(planned("a${/}b")).toMatchObject({ text: "a${/}b", missing: [] });
  expect(planned("${} $PLACE ${secret:OWN}").text).toBe("${} $PLACE ${secret:OWN}");
});

test("variables that the entry itself sets stay variables of it, and null is nothing", () => {
  const env = { AUTH: "Bearer abc123secretabc123", REGION: "${REGION}", NONE: null, PORT: 1 };
  const written = { command: "x", args: ["--auth=${AUTH}", "${REGION:-eu}", "${HOST}"], env, headers: null, cwd: null };
  const [server] = planServers([{ key: "mail", written }], { ...nothing, env: { REGION: "us" } });
  expect(server?.entry).toEqual({
    command: "x",
    args: ["--auth=${AUTH}", "${REGION:-eu}", "${secret:HOST}"],
    env: { AUTH: "${secret:MAIL_AUTH}", REGION: "${secret:REGION}", PORT: "1" },
  });
  expect(Object.fromEntries(server?.secrets ?? [])).toEqual({ MAIL_AUTH: env.AUTH, REGION: "us" });
});
