import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { toAppPolicy, withPolicy } from "../../web/src/words/app-policy.ts";
import { hasBrowser, launchBrowser } from "./dashboard.ts";

/** Says in a frame of the page's own what it has there. */
const within = `<script>top.postMessage("frame " + typeof RTCPeerConnection, "*")<\\/script>`;
const asAttribute = within.replaceAll("\\/", "/").replaceAll('"', "&quot;");

/** A page that changes what it can of the browser, and then makes frames in every way. */
const hostile = `<body><script>
const say = (text) => top.postMessage(text, "*");
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) say(name + " " + typeof globalThis[name]);
const frame = () => Object.assign(document.createElement("iframe"), { srcdoc: ${JSON.stringify(within)} });
const holder = () => document.body.appendChild(document.createElement("div"));
const ways = [
  () => document.body.append(frame()),
  () => (holder().innerHTML = frame().outerHTML),
  () => holder().attachShadow({ mode: "closed" }).append(frame()),
  () => holder().setHTMLUnsafe("<div><template shadowrootmode=closed>" + frame().outerHTML + "</template></div>"),
  () => document.body.append(Object.assign(document.createElementNS("http://www.w3.org/1999/xhtml", "x:iframe"), { srcdoc: ${JSON.stringify(within)} })),
  () => document.body.append(new DOMParser().parseFromString(frame().outerHTML, "text/html").body.firstChild),
  () => document.body.append(Object.assign(document.createElement("object"), { data: "data:text/html," + ${JSON.stringify(within)} })),
  () => say("made " + typeof (document.body.appendChild(document.createElement("iframe")).contentWindow ?? {}).RTCPeerConnection),
];
Object.defineProperty(MutationRecord.prototype, "addedNodes", { get: () => [] });
Element.prototype.remove = () => undefined;
Document.prototype.querySelector = ShadowRoot.prototype.querySelector = () => null;
Reflect.apply = () => null;
for (const way of ways) try { way(); } catch { /* refused */ }
</script>
<iframe srcdoc="${asAttribute}"></iframe>
<div><template shadowrootmode="closed"><iframe srcdoc="${asAttribute}"></iframe></template></div>
<script>setTimeout(() => say("end"), 1000)</script>`;

/** What the page said by its end, in a frame as the sandbox makes it. */
async function said(page: string): Promise<readonly string[]> {
  const inner = JSON.stringify(page).replaceAll("<", "\\u003c");
  const outer = `<!doctype html><body><script>
    globalThis.said = [];
    addEventListener("message", ({ data }) => said.push(data));
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts allow-forms");
    frame.srcdoc = ${inner};
    document.body.append(frame);
  </script>`;
  const server = createServer((_request, response) => {
    const policy = "sandbox allow-scripts allow-forms; frame-src 'none'";
    response.writeHead(200, { "content-type": "text/html", "content-security-policy": policy }).end(outer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await launchBrowser();
  try {
    const tab = await browser.newPage();
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await tab.waitForFunction("said.includes('end')");
    return await tab.evaluate<readonly string[]>("said");
  } finally {
    await browser.close();
    server.close();
  }
}

describe.skipIf(!hasBrowser)("a server's page", () => {
  test("FAULT 35: has no WebRTC, whatever frames it makes and whatever it changes before", async () => {
    const told = await said(withPolicy(hostile, toAppPolicy({}).text));
    expect(told.filter((text) => text !== "end" && !text.endsWith(" undefined"))).toEqual([]);
  });

  test("would have it without the first script, which is what this compares with", async () => {
    expect(await said(hostile)).toContain("frame function");
  });
});
