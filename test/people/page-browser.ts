import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { until } from "../harness/until.ts";

/** A page as a person sees it. */
export interface SeenPage {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A browser without a screen: keeps cookies, follows redirects, and fills in forms. */
export interface PageBrowser {
  readonly cookies: Map<string, string>;
  /** Ends at a page, or at the first redirect to `stopAt`. */
  open(url: string): Promise<SeenPage>;
  /** Sends the first form of a page that has this button or field, with what stands in it and `fields`. */
  submit(page: SeenPage, fields?: Readonly<Record<string, string>>, marker?: string): Promise<SeenPage>;
}

export interface PageBrowserOptions {
  /** Redirects there are not followed. */
  readonly stopAt?: string;
  /** Where an address really leads: for names that nobody else knows. */
  readonly leadsTo?: (url: string) => string;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function createPageBrowser({
  stopAt,
  leadsTo = (url) => url,
  headers: always = {},
}: PageBrowserOptions = {}): PageBrowser {
  const cookies = new Map<string, string>();

  async function follow(first: SeenPage): Promise<SeenPage> {
    let page = first;
    // A program that sends its person away may listen only later: a person would try it again.
    const visitSoon = async (url: string): Promise<SeenPage> =>
      await until(async () => await visit(url).catch(notWhenRefused), 120_000);
    for (let step = 0; step < 20; step += 1) {
      const { location } = page.headers;
      if (page.status < 300 || page.status >= 400 || location === undefined) return page;
      const url = new URL(location, page.url).href;
      if (stopAt !== undefined && url.startsWith(stopAt)) return { ...page, url };
      page = await visitSoon(url);
    }
    throw new Error(`the browser goes round in circles at ${page.url}`);
  }

  async function visit(url: string, form?: URLSearchParams): Promise<SeenPage> {
    const body = form?.toString();
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const sent = {
      host: new URL(url).host,
      cookie,
      accept: "text/html",
      ...(form === undefined
        ? {}
        : {
            "content-type": "application/x-www-form-urlencoded",
            origin: new URL(url).origin,
            "sec-fetch-site": "same-origin",
          }),
      ...always,
    };
    return await new Promise((resolve, reject) => {
      const request = httpRequest(
        leadsTo(url),
        { method: form === undefined ? "GET" : "POST", headers: sent, agent: false },
        (response) => {
          for (const line of response.headers["set-cookie"] ?? []) {
            const [pair = ""] = line.split(";");
            const at = pair.indexOf("=");
            const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
            if (value === "") cookies.delete(name);
            else cookies.set(name, value);
          }
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            resolve({
              url,
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString("utf8"),
            }),
          );
        },
      );
      request.on("error", reject);
      request.end(body);
    });
  }

  return {
    cookies,
    open: async (url) => await follow(await visit(url)),
    async submit(page, fields = {}, marker = "") {
      const forms = [...page.text.matchAll(/<form[^>]* action="([^"]+)"[^>]*>([^]*?)<\/form>/g)];
      const [, action = "", inside = ""] = forms.find(([text]) => text.includes(marker)) ?? [];
      if (action === "") throw new Error(`there is no such form on ${page.url}:\n${page.text}`);
      return await follow(await visit(new URL(action, page.url).href, fill(inside, fields)));
    },
  };
}

function notWhenRefused(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ECONNREFUSED") throw error;
}

function fill(inside: string, fields: Readonly<Record<string, string>>): URLSearchParams {
  const form = new URLSearchParams();
  for (const [, name = "", value = ""] of inside.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g))
    form.set(name, value);
  for (const [, name = "", options = ""] of inside.matchAll(/<select [^>]*name="([^"]+)"[^>]*>([^]*?)<\/select>/g))
    form.set(
      name,
      /<option(?: value="([^"]*)")?>([^<]*)/
        .exec(options)
        ?.slice(1)
        .find((text) => text !== undefined) ?? "",
    );
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}
