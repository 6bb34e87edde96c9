import { request as httpRequest, type IncomingHttpHeaders } from "node:http";

interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * A person with a browser, by plain HTTP: logs in as `person`, consents, and ends at the page that the callback
 * shows.
 */
export async function clickThrough(
  url: string,
  options: {
    readonly person?: string;
    readonly atCallback?: (callback: URL) => URL | undefined;
    readonly address?: (url: string) => string;
    /** Addresses that begin so are not visited: the page is the redirect there. */
    readonly stopAt?: string;
  } = {},
): Promise<Page> {
  const cookies = new Map<string, string>();
  let next: { url: string; form?: URLSearchParams } = { url };
  for (let step = 0; step < 20; step += 1) {
    const target = new URL(next.url);
    if (options.stopAt !== undefined && next.url.startsWith(options.stopAt))
      return { url: next.url, status: 303, headers: {}, text: "" };
    const changed = target.pathname === "/callback" ? options.atCallback?.(target) : undefined;
    const url = changed?.href ?? next.url;
    const page = { ...(await visit(options.address?.(url) ?? url, cookies, next.form)), url };
    const { location } = page.headers;
    if (page.status >= 300 && page.status < 400 && location !== undefined) {
      next = { url: new URL(location, page.url).href };
      continue;
    }
    const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1];
    if (action === undefined || target.pathname === "/callback") return page;
    const form = new URLSearchParams(
      [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
        ([, name = "", value = ""]) => [name, value] as [string, string],
      ),
    );
    if (form.get("prompt") === "login") {
      form.set("login", options.person ?? "alice");
      form.set("password", "any");
    }
    next = { url: new URL(action, page.url).href, form };
  }
  throw new Error(`the browser goes round in circles at ${next.url}`);
}

async function visit(url: string, cookies: Map<string, string>, form: URLSearchParams | undefined): Promise<Page> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return await new Promise((resolve, reject) => {
    const headers = { cookie, ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }) };
    const request = httpRequest(
      url,
      { method: form === undefined ? "GET" : "POST", headers, agent: false },
      (response) => {
        for (const line of response.headers["set-cookie"] ?? []) {
          const [pair = ""] = line.split(";");
          const [name = "", ...value] = pair.split("=");
          cookies.set(name, value.join("="));
        }
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve({ url, status: response.statusCode ?? 0, headers: response.headers, text }));
      },
    );
    request.on("error", reject);
    request.end(form?.toString());
  });
}
