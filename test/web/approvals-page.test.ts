import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { untilOnline } from "../harness/rest.ts";
import { execute } from "../harness/rpc.ts";
import { openNotes, type Notes } from "../safety/notes.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, problemsOfLooks, visit } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the page of approvals", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let notes: Notes;
  beforeAll(async () => {
    notes = await openNotes();
    browser = await launchBrowser();
    gateway = await startGateway({
      config: { mcpServers: { notes: notes.entry }, toolyard: { approvals: { holdMs: 0 } } },
      directory: notes.directory,
    });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    await notes[Symbol.asyncDispose]();
  });

  test("shows a call with all of its arguments, takes a yes or a no, and what is remembered back", async () => {
    const call = async (given: object): Promise<string> =>
      JSON.stringify(await execute(gateway.url, "notes:delete_notes", given));
    const refused = await call({ id: "first", text: "</script>\u202Eevil" });
    expect(refused).toContain("APPROVAL_NEEDED");
    const { context, page, misdeeds } = await openDashboard(browser, gateway);
    // The address that the model is told leads to the page itself.
    const address = /http:\/\/[\w.:]+\/ui\/approvals#\w+/.exec(refused)?.[0] ?? "";
    await page.goto(address);
    await page.getByRole("heading", { level: 1, name: "Approvals" }).waitFor();
    await visit(page, gateway, "/");
    // It has not failed.
    await page.getByText("waits for a yes").first().waitFor();
    await page.getByRole("link", { name: "1 call waiting for your yes" }).click();
    await page.getByRole("heading", { level: 1, name: "Approvals" }).waitFor();
    const waiting = page.getByRole("region", { name: "Waiting" });
    await waiting.getByText("⟦U+202E⟧evil").waitFor();
    expect(await axeProblems(page)).toEqual([]);
    expect(await problemsOfLooks(page)).toEqual([]);
    await waiting.getByRole("button", { name: "Yes, this call" }).click();
    await page.getByText("Nothing waits for you").waitFor();
    expect(await call({ id: "first", text: "</script>\u202Eevil" })).toContain("ran delete_notes");

    // What comes while the page is open is on it.
    expect(await call({ id: "second" })).toContain("APPROVAL_NEEDED");
    await waiting.getByText('"second"').waitFor();
    await waiting.getByRole("button", { name: "No", exact: true }).click();
    await page.getByText("Nothing waits for you").waitFor();
    expect(await call({ id: "second" })).toContain("APPROVAL_DENIED");

    expect(await call({ id: "third" })).toContain("APPROVAL_NEEDED");
    await waiting.getByRole("button", { name: "Always" }).click();
    const remembered = page.getByRole("region", { name: "Remembered" });
    await remembered.getByText("notes:delete_notes").waitFor();
    expect(await call({ id: "fourth" })).toContain("ran delete_notes");
    expect(await problemsOfLooks(page)).toEqual([]);
    await remembered.getByRole("button", { name: "Take back" }).click();
    await remembered.waitFor({ state: "detached" });
    expect(await call({ id: "fifth" })).toContain("APPROVAL_NEEDED");
    expect(notes.calls()).toHaveLength(2);
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await visit(page, gateway, "/tools?server=notes");
    await page.getByText("deletes or undoes something, asks first").first().waitFor();
    await context.close();
  });
});
