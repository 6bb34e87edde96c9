import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject, parseJson } from "../../../kernel/text/json-bytes.ts";
import type { Surroundings } from "../surroundings/surroundings.ts";
import { checkClock } from "./doctor-machine.ts";
import { broken, doubtful, fine, type Finding, type PeopleStanding, type SeenGateway } from "./doctor-finding.ts";
import { requestPlainly, toReason } from "../../../wire/http/plain-request.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";

const answerMs = 10_000;

/**
 * What a gateway for teams needs beside what every gateway does. Nothing where the running one has no people. Addresses
 * are asked as people's machines do, through the proxy that `env` names.
 */
export async function checkTeam(
  gateway: Pick<SeenGateway, "people" | "databases">,
  env: Surroundings["env"],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const standing = await gateway.people();
  if (standing === undefined) return [];
  const seen: { readonly date: string | null; readonly atMs: number }[] = [];
  const ask: Ask = async (url) => {
    const answer = await read(url, AbortSignal.any([signal, AbortSignal.timeout(answerMs)]), env);
    seen.push({ date: answer.date, atMs: Date.now() });
    return answer;
  };
  const findings = [
    checkPeople(standing),
    ...(await readDatabases(gateway).catch(toFinding)),
    ...(await checkPublicUrl(standing, ask)),
    ...checkProxies(standing),
    ...(await Promise.all(standing.providers.map(async (provider) => await checkProvider(provider, ask)))),
  ];
  signal.throwIfAborted();
  const clock = checkClock(seen);
  return clock === undefined ? findings : [...findings, clock];
}

type Ask = (url: string) => Promise<Answer>;

function checkPeople({ users, admins, refusal }: PeopleStanding): Finding {
  if (refusal !== null) return broken(plainText(refusal), "Mend that: no one is let in before.");
  if (users === 0)
    return broken("no one may use the gateway yet", "`toolyard user link` prints a link that makes the first admin.");
  const said = `${users} ${users === 1 ? "user" : "users"}, ${admins} of them ${admins === 1 ? "an admin" : "admins"}`;
  if (admins === 0)
    return doubtful(`${said} of the gateway who may log in`, "Make one: `toolyard user role NAME --role admin`.");
  return fine(said);
}

async function readDatabases(gateway: Pick<SeenGateway, "databases">): Promise<readonly Finding[]> {
  return (await gateway.databases()).map(({ database, engine, steps, faults }) => {
    const what = `database ${database}: ${engine}, schema ${steps.at(-1) ?? "none"}`;
    if (faults.length === 0) return fine(plainText(what));
    return broken(plainText(`${what}: ${faults.join("; ")}`), "`toolyard db check` says where it is.");
  });
}

function toFinding(error: unknown): readonly Finding[] {
  const { message, hint } = toGatewayError(error);
  return [broken(message, hint)];
}

/** Whether clients that are given the address reach this gateway there, with their own path and over TLS. */
async function checkPublicUrl({ publicUrl }: PeopleStanding, ask: Ask): Promise<readonly Finding[]> {
  if (publicUrl === null)
    return [
      doubtful(
        "no publicUrl is set: links for people and what apps are told name the address that each request came by",
        "Start with --public-url https://…, as people reach the gateway.",
      ),
    ];
  const address = `${publicUrl}/.well-known/oauth-protected-resource/mcp`;
  try {
    const { status, body } = await ask(address);
    const resource = isJsonObject(body) ? body["resource"] : undefined;
    if (resource === `${publicUrl}/mcp`)
      return [fine(`${publicUrl} leads to this gateway`), ...(await checkPlain(publicUrl, ask))];
    return [
      broken(
        plainText(
          typeof resource === "string"
            ? `${publicUrl} leads to a gateway that calls itself ${resource.slice(0, 200)}`
            : `${publicUrl} leads to something else: status ${status}`,
        ),
        "Let the proxy pass all paths to the gateway as they are, and set publicUrl to what people type.",
      ),
    ];
  } catch (error) {
    const todo = "Check the proxy, its certificate and the name; from inside a network the name may not be reachable.";
    return [broken(`${publicUrl} does not answer (${toReason(error)})`, todo)];
  }
}

/** A person who types the name alone must not send a token or a password over plain http. */
async function checkPlain(publicUrl: string, ask: Ask): Promise<readonly Finding[]> {
  const address = new URL(publicUrl);
  // A proxy on a port of its own says nothing of port 80.
  if (address.protocol !== "https:" || address.port !== "") return [];
  address.protocol = "http:";
  const plain = address.href;
  // A server that does not answer there receives nothing either.
  const answer = await ask(plain).catch(() => undefined);
  if (answer === undefined) return [fine(`nothing answers at ${plain}`)];
  if (answer.status >= 300 && answer.status < 400 && answer.location?.startsWith("https:") === true)
    return [fine(`${plain} leads to https`)];
  return [doubtful(`${plain} answers without TLS`, "Let the proxy redirect to https, or close port 80.")];
}

function checkProxies({ publicUrl, trustedProxies }: PeopleStanding): readonly Finding[] {
  if (publicUrl?.startsWith("https:") !== true) return [];
  if (trustedProxies > 0)
    return [fine(`${trustedProxies} ${trustedProxies === 1 ? "proxy is" : "proxies are"} trusted`)];
  return [
    doubtful(
      "no proxy is trusted: the audit and the limits of logins take all people for one address, the proxy's",
      'List the proxy in trustedProxies, such as ["127.0.0.1", "::1"], and have it set X-Forwarded-For.',
    ),
  ];
}

async function checkProvider({ name, issuer }: PeopleStanding["providers"][number], ask: Ask): Promise<Finding> {
  const what = `identity provider ${plainText(name)}`;
  try {
    const { status, body } = await ask(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
    if (isJsonObject(body) && body["issuer"] === issuer) return fine(`${what}: ${issuer} answers`);
    const said = isJsonObject(body) && typeof body["issuer"] === "string" ? body["issuer"].slice(0, 200) : undefined;
    return broken(
      plainText(`${what}: ${said === undefined ? `status ${status}, without metadata` : `calls itself ${said}`}`),
      "Write `issuer` exactly as the provider does.",
    );
  } catch (error) {
    const todo = "Check its address and the network, and HTTPS_PROXY and NO_PROXY where there is a proxy.";
    return broken(`${what}: ${issuer} does not answer (${toReason(error)})`, todo);
  }
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly date: string | null;
  /** Undefined where it is no JSON. */
  readonly body: unknown;
}

async function read(url: string, signal: AbortSignal, env: Surroundings["env"]): Promise<Answer> {
  const answer = await requestPlainly({ url, method: "GET", headers: { accept: "application/json" }, signal, env });
  const [location, date = null] = [answer.header("location"), answer.header("date")];
  return { status: answer.status, location, date, body: parseJson(answer.text) };
}
