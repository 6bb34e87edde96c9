import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedaction, createSecretSources, joinSecrets } from "./redaction.ts";
import { isSecretName } from "../../config/words/secret-names.ts";

function redactionOf(...secrets: readonly string[]) {
  const known = new Set(secrets);
  return createRedaction({ secrets: () => known });
}

const secret = "CANARY-5e1f/77+aa b~(c)";

describe("known secrets", () => {
  const forms: Readonly<Record<string, string>> = {
    raw: secret,
    "in JSON": JSON.stringify('quo"ted\\secret').slice(1, -1),
    "in JSON in JSON": JSON.stringify(JSON.stringify('quo"ted\\secret')).slice(3, -3),
    "in JSON of ASCII only": "k\\u00f6nigs-secret",
    "in JSON with slashes escaped": secret.replace("/", "\\/"),
    "in a URL": encodeURIComponent(secret),
    "in a URL, lower case": encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    "in a form": new URLSearchParams({ secret }).toString().slice("secret=".length),
    hex: Buffer.from(secret).toString("hex"),
    "hex, upper case": Buffer.from(secret).toString("hex").toUpperCase(),
  };
  const redaction = redactionOf(secret, 'quo"ted\\secret', "königs-secret");

  test.each(Object.entries(forms))("FAULT J: a secret is hidden %s, and what stands around it stays", (_name, form) => {
    expect(redaction.text(`before ${form} after`)).toBe("before [redacted] after");
  });

  test.each(["base64", "base64url"] as const)(
    "FAULT J: a secret is hidden wherever it stands in a longer %s",
    (encoding) => {
      for (const before of ["", "u", "us", "use", "user-of-it:"]) {
        for (const after of ["", "!", "!!", "!!!", " and more of it"]) {
          const encoded = Buffer.from(before + secret + after).toString(encoding);
          const [start = "?", end = "?", ...more] = redaction.text(encoded).split("[redacted]");
          expect(more).toEqual([]);
          // Only what stands around it can be decoded from the rest.
          expect(before).toContain(Buffer.from(start, encoding).toString());
          expect(encoded.endsWith(end)).toBe(true);
          expect(Math.floor((end.replaceAll("=", "").length * 6) / 8)).toBeLessThanOrEqual(after.length);
        }
      }
    },
  );

  test("FAULT J: nothing is left of a secret that begins, or goes on, as another does", () => {
    const { text } = redactionOf("CANARY", "CANARYtail", "line\nCANARYtail-too", "tail-of-it");
    expect(text("CANARYtail and CANARY")).toBe("[redacted] and [redacted]");
    expect(text(JSON.stringify("line\nCANARYtail-too"))).toBe('"[redacted]"');
    expect(text("CANARYtail-of-it.")).toBe("[redacted].");
  });

  test("FAULT J: a secret of many kilobytes is hidden to its end, encoded too", () => {
    const long = Array.from({ length: 3_000 }, (_, index) => String.fromCharCode(97 + ((index * index) % 26))).join("");
    const { text } = redactionOf(long);
    for (const form of [long, ...(["base64", "hex"] as const).map((encoding) => Buffer.from(long).toString(encoding))])
      expect(text(`before ${form}, after`)).toMatch(/^before \[redacted\]=*, after$/);
    expect(text(`${Buffer.from(long).toString("hex")} xyz`)).toBe("[redacted] xyz");
  });

  test("a text without secrets is the same text; values too short to be secrets hide nothing", () => {
    const line = "nothing here, true, 1: info";
    expect(redactionOf("other-secret", "true", "1", "", "info").text(line)).toBe(line);
  });

  test("FAULT J: any secret in any text is hidden in every form", () => {
    const value = fc
      .string({ unit: "binary", minLength: 6, maxLength: 60 })
      .map((text) => Buffer.from(text).toString());
    fc.assert(
      fc.property(value, fc.string(), fc.string(), (found, before, after) => {
        const { text } = redactionOf(found);
        for (const form of [found, encodeURIComponent(found), Buffer.from(found).toString("hex")])
          expect(text(`${before}${form}${after}`)).toContain("[redacted]");
        for (const encoding of ["base64", "base64url"] as const)
          expect(text(Buffer.from(`${before}${found}${after}`).toString(encoding))).toContain("[redacted]");
      }),
    );
  });
});

describe("cut lines", () => {
  const { text } = redactionOf("CANARY-5e1f77aa90bc", "github_pat_11AAAA_zzz", "Bearer tok-en-value");

  test.each(["", "\n", "\r\nnext line", "\\nnext line in JSON", "…", "... (cut)"])(
    "FAULT J: the beginning of a secret is hidden where its line ends: %j",
    (end) => {
      for (const length of [6, 10, 18])
        expect(text(`leaks ${"CANARY-5e1f77aa90bc".slice(0, length)}${end}`)).toBe(`leaks [redacted]${end}`);
    },
  );

  test("FAULT J: also where it is encoded", () => {
    const bytes = Buffer.from("CANARY-5e1f77aa90bc");
    for (const encoded of [bytes.toString("hex").slice(0, 15), bytes.toString("base64").slice(0, 9)])
      expect(text(`leaks ${encoded}`)).toBe("leaks [redacted]");
  });

  test("fewer characters, the same ones inside a line, and beginnings that everybody knows stay", () => {
    for (const line of [
      "leaks CANAR",
      "a CANARY-5 sings",
      "cannot connect to github",
      "expected github_pat_",
      "Bearer",
    ])
      expect(text(line)).toBe(line);
    expect(text("is github_pat_11AAAA")).toBe("is [redacted]");
  });
});

describe("sets of secrets", () => {
  test("a secret that comes later is hidden from then on, also when it comes into the same set", () => {
    let logins: ReadonlySet<string> | undefined;
    const config = new Set(["first-secret"]);
    const { text } = createRedaction({
      secrets: joinSecrets(
        () => config,
        () => logins,
      ),
    });
    expect(text("first-secret second-secret third-secret")).toBe("[redacted] second-secret third-secret");
    logins = new Set(["second-secret"]);
    expect(text("first-secret second-secret third-secret")).toBe("[redacted] [redacted] third-secret");
    config.add("third-secret");
    expect(text("first-secret second-secret third-secret")).toBe("[redacted] [redacted] [redacted]");
  });

  test("the joined set stays the same as long as its sources do", () => {
    const config = new Set(["first-secret"]);
    const joined = joinSecrets(
      () => config,
      () => undefined,
    );
    expect(joined()).toBe(joined());
  });

  test("a source that is added later is asked from then on", () => {
    const sources = createSecretSources();
    const { text } = createRedaction({ secrets: sources.all });
    expect([text("first-secret"), sources.all()]).toEqual(["first-secret", new Set()]);
    sources.add(() => new Set(["first-secret"]));
    expect(text("first-secret")).toBe("[redacted]");
  });

  test("a thousand tokens with one beginning are told apart", () => {
    const tokens = Array.from({ length: 1_000 }, (_, index) => `tok.header.${index.toString(36).padStart(4, "0")}.x`);
    const { text } = redactionOf(...tokens);
    expect(text(`of ${tokens[777]}, not tok.header.zzzz.x`)).toBe("of [redacted], not tok.header.zzzz.x");
  });
});

describe("JSON", () => {
  const redaction = redactionOf("CANARY-value", "48151623");

  test("FAULT J: values of members with secret names are replaced at any depth, numbers and objects too", () => {
    const json =
      '{"user":"ada","password":"x","deep":[{"apiKey": 17 , "list":[{"x-api-key":{"a":[1,"}"]}}]}],"pin":null}';
    expect(redaction.json(json)).toBe(
      '{"user":"ada","password":"[redacted]","deep":[{"apiKey": "[redacted]" , "list":[{"x-api-key":"[redacted]"}]}],"pin":null}',
    );
  });

  test("everything else stays as it was written", () => {
    const json = ' {"n": 9007199254740993, "e":-0, "x":1.50,"a":"\\u0041\\/","dup":1,"dup":2,"tokens":5} ';
    expect(redaction.json(json)).toBe(json);
    expect(redaction.json(Buffer.from(json))).toBe(json);
  });

  test("FAULT J: names written with escapes, and names that a schema marks, are secret", () => {
    expect(redaction.json('{"pass\\u0077ord":"x","Passw0rd":"y"}')).toBe(
      '{"pass\\u0077ord":"[redacted]","Passw0rd":"y"}',
    );
    expect(redaction.json('{"memo":"x","other":{"memo":[1]}}', { properties: { memo: { writeOnly: true } } })).toBe(
      '{"memo":"[redacted]","other":{"memo":"[redacted]"}}',
    );
  });

  test("FAULT J: known values are hidden in texts, names and numbers, and it stays JSON", () => {
    const json = '{"a":"is CANARY-value.","CANARY-value":[48151623,1481516234,"48151623"],"token":"CANARY-value"}';
    const clean = redaction.json(json);
    expect(JSON.parse(clean)).toEqual({
      a: "is [redacted].",
      "[redacted]": ["[redacted]", "[redacted]", "[redacted]"],
      token: "[redacted]",
    });
  });

  test("FAULT J: what is cut or no JSON is redacted as far as it can be understood", () => {
    expect(redaction.json('{"a":1,"password":"not yet at its en')).toBe('{"a":1,"password":"[redacted]"');
    expect(redaction.json('{"password":[1,{"x":')).toBe('{"password":"[redacted]"');
    expect(redaction.json("plain text with CANARY-value and CANARY-v")).toBe(
      "plain text with [redacted] and [redacted]",
    );
    expect(redaction.json("")).toBe("");
  });

  test("any JSON without secrets stays; with a secret member it stays JSON without its value", () => {
    fc.assert(
      fc.property(fc.json().filter(hasNoSecretName), fc.jsonValue(), (other, hidden) => {
        expect(redaction.json(other)).toBe(other);
        const clean: unknown = JSON.parse(redaction.json(`{"a":${other},"clientSecret":${JSON.stringify(hidden)}}`));
        expect(clean).toEqual({ a: JSON.parse(other), clientSecret: hidden === null ? null : "[redacted]" });
      }),
    );
  });

  test("a deep text is no recursion", () => {
    const deep = `${"[".repeat(200_000)}{"otp":123456}`;
    expect(redaction.json(deep)).toBe(`${"[".repeat(200_000)}{"otp":"[redacted]"}`);
  });
});

/** Two letters at random are `pw` now and then. */
function hasNoSecretName(text: string): boolean {
  let isPlain = true;
  JSON.parse(text, (name, value: unknown) => {
    isPlain &&= !isSecretName(name);
    return value;
  });
  return isPlain;
}
