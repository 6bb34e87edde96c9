import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createKeyFinder } from "./key-patterns.ts";
import { Spans } from "./spans.ts";
import { createRedaction } from "../../records/redaction/redaction.ts";

const none = new Set<string>();
const { text, json } = createRedaction({ secrets: () => none });

/** Put together here, so that no scanner takes this file for a leak. */
const keys = {
  Anthropic: `sk-ant-api03-${"aB3-".repeat(23)}AA`,
  OpenAI: `sk-proj-${"aB3_".repeat(12)}`,
  "GitHub, personal": `ghp_${"aB3x".repeat(9)}`,
  "GitHub, OAuth": `gho_${"aB3x".repeat(9)}`,
  "GitHub, fine-grained": `github_pat_${"aB3x".repeat(20)}`,
  GitLab: `glpat-${"aB3x".repeat(5)}`,
  Slack: `xoxb-${"1234567890-".repeat(2)}abcdefABCDEF`,
  "AWS, long-lived": `AKIA${"ABCD".repeat(4)}`,
  "AWS, temporary": `ASIA${"2BCD".repeat(4)}`,
  Google: `AIza${"aB3x_".repeat(7)}`,
  JWT: `eyJ${"hbGci".repeat(4)}.eyJ${"zdWIi".repeat(4)}.${"aB3-_".repeat(8)}`,
  npm: `npm_${"aB3x".repeat(9)}`,
  "Hugging Face": `hf_${"aBcx".repeat(9)}`,
  PyPI: `pypi-${"AgEIcHlwaS5".repeat(6)}`,
  SendGrid: `SG.${"aB3x".repeat(5)}.${"aB3x".repeat(10)}`,
  Stripe: `sk_live_${"aB3x".repeat(6)}`,
  "Stripe, restricted": `rk_live_${"aB3x".repeat(6)}`,
};

function shapesIn(whole: string): readonly string[] {
  const found = new Spans();
  createKeyFinder().findShapes(whole, found);
  return found.merged().map(({ start, end }) => whole.slice(start, end));
}

describe("keys by their look", () => {
  test.each(Object.entries(keys))("FAULT J: a key of %s is hidden though nobody told of it", (_name, key) => {
    expect(text(key)).toBe("[redacted]");
    expect(text(`"using ${key}"`)).toBe('"using [redacted]"');
    expect(text(`line\\n${key}\\nline, ?q=%20${key}&x`)).toBe("line\\n[redacted]\\nline, ?q=%20[redacted]&x");
    expect(JSON.parse(json(JSON.stringify({ a: [`${key} `] })))).toEqual({ a: ["[redacted] "] });
  });

  test.each(Object.entries(keys))("a key of %s is known by its shape alone, whatever is before it", (_name, key) => {
    for (const before of ["", '"', "a word ", "?q=%20", "line\\n", "a+", `${"A1b2".repeat(20)}/`])
      expect([before, shapesIn(`${before}${key} and more`)]).toEqual([before, [key]]);
    expect(shapesIn(`some_${key}`).includes(key)).toBe(false);
  });

  test("what a name marks, and what a URL has of a user, is no shape; a private key is one", () => {
    expect(shapesIn("password=hunter2hunter2 Bearer abc123def456 postgres://u:pass@db/x")).toEqual([]);
    const pem = `-----BEGIN PRIVATE KEY-----\n${"aB3x".repeat(16)}\n-----END PRIVATE KEY-----`;
    expect(shapesIn(`x ${pem} y ${pem}`)).toEqual([pem, pem]);
  });

  test("FAULT J: credentials of HTTP are hidden, prose and challenges are not", () => {
    const basic = Buffer.from("ada:love lace").toString("base64");
    expect(text("Authorization: Bearer abc123def456")).toBe("Authorization: Bearer [redacted]");
    expect(text(`authorization: basic ${basic}`)).toBe("authorization: basic [redacted]");
    for (const prose of [
      'WWW-Authenticate: Bearer resource_metadata="https://x.example/.well-known/a", scope="files:read"',
      "the server asks for Bearer authentication; Basic authentication is music",
      'Basic realm="intranet"',
    ])
      expect(text(prose)).toBe(prose);
  });

  test("FAULT J: user and password of a URL are hidden, names of users are not", () => {
    expect(text("at postgres://ada:pass@word@db:5432/x")).toBe("at postgres://[redacted]@db:5432/x");
    expect(text(`https://${keys.npm}@registry.example/`)).toBe("https://[redacted]@registry.example/");
    for (const url of [
      "ssh://git@github.com/a/b",
      "https://x.example/a:b@c",
      "http://[::1]:3001/mcp",
      "postgres://${U}:${P}@db",
    ])
      expect(text(url)).toBe(url);
  });

  test("FAULT J: a private key is hidden, also in JSON and where it is cut", () => {
    const frame = (edge: string) => `-----${edge} RSA PRIVATE KEY-----`;
    const body = `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n${randomBytes(300).toString("base64")}`;
    const pem = `${frame("BEGIN")}\n${body}\n${frame("END")}`;
    expect(text(`a ${pem} z`)).toBe("a [redacted] z");
    expect(text(JSON.stringify({ k: pem, z: 1 }))).toBe('{"k":"[redacted]","z":1}');
    expect(text(JSON.stringify({ k: pem.slice(0, 200), z: 1 }))).toBe('{"k":"[redacted]","z":1}');
    const open = "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----";
    expect(text(open)).toBe(open);
  });

  test("FAULT J: what is named as a secret is hidden in URLs, environments, and JSON in JSON", () => {
    expect(text("GET /x?api_key=abc&page=2 GITHUB_TOKEN=abc")).toBe(
      "GET /x?api_key=[redacted]&page=2 GITHUB_TOKEN=[redacted]",
    );
    const inner = JSON.stringify({ password: 'a"b\\', next: 1 });
    expect(text(inner)).toBe('{"password":"[redacted]","next":1}');
    expect(JSON.parse(text(JSON.stringify(inner)))).toBe('{"password":"[redacted]","next":1}');
    expect(text('{"Authorization" : "anything"')).toBe('{"Authorization" : "[redacted]"');
  });

  test.each([
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    `id ${randomUUID()}`,
    "class=sk-fading-circle-large-animation",
    "tokenizer=o200k max_tokens=5 token: expected a text, set password=${DB_PASSWORD}",
    '{"tokens":5,"secretary":"ada","author":"grace"}',
    "see https://example.com/a?page=2&sort=key#top",
    "npm_config_registry, hf_hub, eyJ, AKIA, Bearer, github_pat_",
  ])("no secret: %s", (line) => expect(text(line)).toBe(line));

  test("pictures stay whole", () => {
    for (let index = 0; index < 50; index += 1) {
      const picture = JSON.stringify({ type: "image", data: randomBytes(20_000).toString("base64") });
      expect(json(picture)).toBe(picture);
    }
  });
});

test("FAULT J: credentials are hidden wherever they begin in others, and in what only looks like some", () => {
  const basic = Buffer.from("ada:love lace").toString("base64");
  expect(text(`bearer+of-no-digits+bearer+${"aB3x".repeat(4)} z`)).toBe("bearer+[redacted] z");
  expect(text(`basic+training+basic+${basic} z`)).toBe("basic+training+basic+[redacted] z");
  expect(text(`basic ${Buffer.from(`ada:${"long é ".repeat(200)}`).toString("base64")} z`)).toBe("basic [redacted] z");
  expect(text("?q=basic+training+and+basic+skills")).toBe("?q=basic+training+and+basic+skills");
  expect(text(`a.whsec_${"aB3x".repeat(6)}=whsec_${"aB3x".repeat(6)} z`)).toBe("a.[redacted] z");
});

/** Every beginning of a pattern, its parts, and both within each other. */
const hostile = [
  ...Object.values(keys).flatMap((key) => [key, key.slice(0, 5), `${key}.`, `%20${key}`, `\\n${key.slice(0, -1)}`]),
  ...["eyJaaaaaaaa-", "eyJaaaaaaaa.", "eyJ", "sk-aaaaaaaaaaaaaaaaaaaaaaaaaaa-", ".sk-", "SG.a", "whsec_a=", "=whsec_"],
  ...[
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN ",
    "-----END ",
    "- -",
    "\\n- ",
    "-----BEGIN A A A A A A A A A A A A A A",
  ],
  ...["://", "://a:b", "://a@", "@", "://a:b@c", "postgres://ada:pass@"],
  ...["bearer+", "basic+", "bearer+a1", "bearer+aA", "basic+bearer+", "bearer ", "basic%20", "bearer++++", "8basic+A"],
  ...["Bearer ", "Bearer a", `basic+${Buffer.from("ada:lovelace").toString("base64")}`, "basic+YWFhYWFhYWFhYWFh"],
  ...[
    "token=",
    '"token":"',
    '\\"token\\":\\"',
    '"token" : ',
    " : : :",
    ' " :',
    "token :",
    "=",
    ":",
    '":"',
    "token==",
    "\\\\\\",
  ],
  ...[
    "\\n",
    "\\",
    '"',
    " ",
    "\n",
    "a",
    "A",
    "1",
    "-",
    "%20",
    "[",
    '{"a":',
    '"password":{',
    '"password":',
    "\u00a0",
    "漢",
    "😀",
  ],
].map((piece) => [piece] as const);

/** Quadratic work would take hours for the larger one: the test's own time limit is an assertion, too. */
test.each(hostile)(
  "a hostile text takes time in proportion to its length, and no stack: %j",
  (piece) => {
    const [small, large] = [1, 8].map((times) => costMs(piece, times * 32_768)) as [number, number];
    // The generous part is for what the machine does besides.
    expect(large).toBeLessThan(8 * 5 * Math.max(small, 5));
  },
  60_000,
);

test.each(["-----BEGIN PRIVATE KEY-----", `eyJ${"a".repeat(12)}.`, "bearer+a1", "token=", "whsec_", "://"])(
  "16 MB of what begins as a key and goes on are no error: %s",
  (beginning) => {
    // As much as a message may have: a regular expression would run out of its stack long before.
    const letters = "A".repeat(8_388_608) + "\\n".repeat(4_194_304);
    expect(text(beginning + letters).length).toBeGreaterThan(0);
  },
  60_000,
);

/** Of this thread's processor, because other programs run beside this one. */
function costMs(piece: string, length: number): number {
  const whole = piece.repeat(Math.ceil(length / piece.length));
  const before = process.cpuUsage();
  expect(text(whole).length).toBeGreaterThan(0);
  expect(json(`{"a":"${whole}`).length).toBeGreaterThan(0);
  shapesIn(whole);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
