import * as v from "valibot";
import { typesMatching } from "../../kernel/events/published-events.ts";
import { filledText } from "../file/check.ts";
import { list, other } from "./setting-row.ts";
import { addressRange } from "../words/web-names.ts";

/** Where events are sent to. */
export interface WebhookSettings {
  readonly url: string;
  /** The key of the signature. */
  readonly secret: string;
  /** Patterns of types; undefined for all events. */
  readonly types?: readonly string[] | undefined;
}

/** As long as the keys that people generate for this: 128 bits in base64. */
const shortestSecret = 16;
/** Each has a queue of its own, and is sent every event. */
const mostWebhooks = 20;

const webhook = v.object({
  url: v.pipe(
    filledText,
    v.check(
      isWebhookUrl,
      "expected an absolute http:// or https:// URL without user name and password; the secret has a member of its own",
    ),
  ),
  secret: v.pipe(
    v.string(),
    v.minLength(shortestSecret, `expected at least ${shortestSecret} characters, such as \`openssl rand -base64 32\``),
  ),
  types: v.optional(
    v.array(
      v.pipe(
        v.string(),
        v.check(
          (pattern) => typesMatching(pattern).length > 0,
          "expected the type of an event, or the beginning of some, such as `mcp.server.*`; see docs/events.md",
        ),
      ),
    ),
  ),
});

/** The settings about events. */
export const eventRows = {
  webhooks: other<readonly WebhookSettings[], readonly WebhookSettings[]>({
    fallback: [],
    schema: v.pipe(v.array(webhook), v.maxLength(mostWebhooks, `expected at most ${mostWebhooks}`)),
    json: {
      type: "array",
      maxItems: mostWebhooks,
      items: {
        type: "object",
        properties: {
          url: { type: "string", pattern: "^https?://|\\$\\{" },
          secret: { type: "string", minLength: 1 },
          types: { type: "array", items: { type: "string" } },
        },
        required: ["url", "secret"],
        additionalProperties: false,
      },
    },
    type: `list of objects with \`url\`, \`secret\` and \`types\`, at most ${mostWebhooks}`,
    about: "addresses that events are sent to, signed; `types` chooses among them; see [events](events.md)",
    example: [{ url: "https://hooks.example.com/toolyard", secret: "at least 16 characters", types: ["mcp.server.*"] }],
  }),
  webhookAddresses: list({
    fallback: [],
    item: addressRange,
    type: "list of addresses and ranges (CIDR)",
    about: "addresses outside the public Internet that webhooks may be sent to; the only ones without encryption",
    reason: "a URL that somebody was talked into must not reach services that trust this network",
    example: ["10.0.0.7", "127.0.0.0/8"],
  }),
};

function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}
