// A person with a browser: keeps cookies, follows redirects, fills in the first form that fits. For the pages of a
// gateway for teams, which have no script.

/** @typedef {{ url: string, status: number, text: string }} Page */

const mostSteps = 20;

export function createPerson() {
  const cookies = new Map();

  async function visit(url, form) {
    const response = await fetch(url, {
      redirect: "manual",
      method: form === undefined ? "GET" : "POST",
      headers: {
        accept: "text/html",
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(form !== undefined && { origin: new URL(url).origin }),
      },
      ...(form !== undefined && { body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return { url, status: response.status, text: await response.text(), location: response.headers.get("location") };
  }

  async function follow(first) {
    let page = first;
    for (let step = 0; step < mostSteps; step += 1) {
      if (page.location === null || page.status < 300 || page.status >= 400) return page;
      page = await visit(new URL(page.location, page.url).href);
    }
    throw new Error(`the browser goes round in circles at ${page.url}`);
  }

  /** @param {string} url @returns {Promise<Page>} */
  const open = async (url) => await follow(await visit(url));

  /** @param {Page} page @param {Record<string, string>} fields @param {string} marker @returns {Promise<Page>} */
  async function submit(page, fields, marker = "") {
    const forms = [...page.text.matchAll(/<form[^>]* action="([^"]+)"[^>]*>([^]*?)<\/form>/g)];
    const [, action, inside] = forms.find(([text]) => text.includes(marker)) ?? [];
    if (action === undefined) throw new Error(`there is no such form on ${page.url}:\n${page.text.slice(0, 2_000)}`);
    const form = new URLSearchParams();
    for (const [, name, value] of inside.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g))
      form.set(name, value);
    for (const [, name, value] of inside.matchAll(/<select [^>]*name="([^"]+)"[^>]*>\s*<option value="([^"]*)"/g))
      form.set(name, value);
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return await follow(await visit(new URL(action, page.url).href, form));
  }

  /**
   * Agrees to what an app asks for. Resolves to the page at which the browser ends: the app's own.
   * @param {string} url @returns {Promise<Page>}
   */
  const allow = async (url) => await submit(await open(url), { answer: "allow" }, 'name="answer"');

  return { open, submit, allow };
}
