// docs/events.md from the table of events.
import { cell, sentence } from "./setting-words.mjs";

/** @type {import("./events-page.d.mts").eventsPage} */
export function eventsPage(publishedEvents) {
  const rows = Object.entries(publishedEvents).map(([type, about]) => `| \`${type}\` | ${cell(sentence(about))} |`);
  return `${opening}
| type | when |
|---|---|
${rows.join("\n")}
`;
}

const opening = `# Events

<!-- Made by scripts/write-docs.mjs from src/kernel/events/published-events.ts. Do not edit. -->

Everything that happens in the gateway is an event. Events leave it as a live stream, through webhooks and in its
[records](records.md), as the same JSON each time:

    { "type": "mcp.server.dormant", "time": "2026-11-22T10:00:00.000Z", "server": "files", "instance": "files",
      "installation": "files", "principal": null, "team": null, "data": { "idle_ms": 180000 } }

\`installation\` is the instance that a person has of a server; the instance of a single client is a copy of it.
\`principal\` is the owner of the instance or the caller, and null for shared instances. \`coalesced\`, if present, is the
number of other events of the same type that this one stands for. Configured secrets are removed.

## Live

\`GET /api/events?types=&server=&instance=\` is a stream of server-sent events, and \`toolyard events -f\` prints it. You
see what happens to shared servers and to your own, and your own calls. An admin also sees that others call, but not the
tool and not what their servers write, and sees what concerns the gateway. The last 1,000 events of the last five minutes
are sent to a client that reconnects with \`Last-Event-ID\` (or \`?after=\`); an event \`reset\` says that some are missing.
They are kept from the first reader until five minutes after the last one.

Up to ten events a second of one instance and person are sent immediately. Beyond that, the newest of each type is sent
in the next second and counts the others; a change of status then leads from the first status to the last.

In a [cluster](scale.md), what happens at all nodes is in the stream, with the same rights: \`node\` is in events of other
nodes than the one that is asked. They tell them while somebody reads, and for five seconds after that: who comes back
later is told \`reset\`, as everybody is when a node joins or could not tell everything.

A stream counts as one of \`limits.openStreams\`, not as a call. One that is not read is closed when a megabyte waits.

## Webhooks

\`\`\`json
{ "toolyard": { "events": { "webhooks": [
  { "url": "https://hooks.example.com/toolyard", "secret": "\${WEBHOOK_SECRET}", "types": ["mcp.server.*"] } ] } } }
\`\`\`

Each receiver is sent \`POST\` with \`{ "id", "dropped", "events": [...] }\`, of up to 20 events and at the latest three
seconds after the first. Any status 2xx within ten seconds accepts it. Anything else is tried again after 1, 2, 4, 8, 16
and 32 seconds with the same \`id\` (also in \`Toolyard-Delivery\`), and then dropped. Meanwhile up to 1,000 events (8 MB)
wait; beyond that the oldest are dropped. \`dropped\` is how many are missing before this delivery. Redirects are not followed, and
no proxy is used.

\`Toolyard-Signature: t=<seconds>,v1=<signature>\`: check that \`v1\` is the HMAC-SHA256 of \`<seconds>.<body>\` with the
secret, in hexadecimal, and refuse old timestamps:

\`\`\`js
const [, t, v1] = /^t=(\\d+),v1=([0-9a-f]{64})$/.exec(request.headers["toolyard-signature"]);
const expected = createHmac("sha256", secret).update(\`\${t}.\${body}\`).digest();
const good = timingSafeEqual(expected, Buffer.from(v1, "hex")) && Date.now() / 1000 - t < 300;
\`\`\`

Addresses outside the public Internet are refused, whatever name leads to them, unless \`events.webhookAddresses\` lists
them; only these may be reached with http://.

## Types
`;
