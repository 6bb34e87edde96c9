// What a page of the site does with JavaScript: search and buttons that copy. Everything else works without it.

const base = new URL(".", document.currentScript.src);

addCopyButtons();
addSearch();
foldContents();

function addCopyButtons() {
  // Browsers have no clipboard for pages that came over plain HTTP.
  if (navigator.clipboard === undefined) return;
  const told = element("p", { className: "unseen", role: "status" });
  document.body.append(told);
  for (const block of document.querySelectorAll(".code")) {
    const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(textOf(block.querySelector("pre"))).then(
        () => say(button, told, "Copied"),
        () => say(button, told, "Not copied"),
      );
    });
    block.append(button);
  }
}

/** Of a session on a terminal, the commands; of other blocks, everything. */
function textOf(block) {
  const text = block.textContent;
  if (!text.startsWith("$ ")) return text;
  const commands = text.split("\n").filter((line) => line.startsWith("$ "));
  return `${commands.map((line) => line.slice(2)).join("\n")}\n`;
}

function say(button, told, text) {
  button.textContent = text;
  told.textContent = text;
  setTimeout(() => {
    button.textContent = "Copy";
    told.textContent = "";
  }, 2000);
}

/** A heading that was chosen in the contents must not be behind them. */
function foldContents() {
  const contents = document.querySelector("#contents");
  contents?.addEventListener("click", ({ target }) => {
    if (target.closest("a") !== null) contents.hidePopover();
  });
}

function addSearch() {
  const open = element("button", { type: "button", textContent: "Search", title: "Search (press /)" });
  document.querySelector(".bar").append(open);
  const dialog = element("dialog", { id: "search", ariaLabel: "Search" });
  const label = element("label", { textContent: "Search the documentation" });
  const input = element("input", { type: "search", autocomplete: "off", spellcheck: false });
  const close = element("button", { type: "button", textContent: "Close" });
  const count = element("p", { role: "status" });
  const list = element("ol");
  label.append(input);
  dialog.append(label, close, count, list);
  document.body.append(dialog);

  let search;
  const show = async () => {
    const query = input.value.trim();
    search ??= loadSearch();
    const results = query === "" ? [] : (await search)(query);
    if (query !== input.value.trim()) return;
    list.replaceChildren(...results.map(resultItem));
    count.textContent = query === "" ? "" : results.length === 0 ? "Nothing found" : `${results.length} found`;
  };
  const failed = () => {
    search = undefined;
    count.textContent = "The search index could not be loaded.";
  };
  const openSearch = () => {
    dialog.showModal();
    input.select();
    show().catch(failed);
  };
  open.addEventListener("click", openSearch);
  close.addEventListener("click", () => dialog.close());
  input.addEventListener("input", () => show().catch(failed));
  dialog.addEventListener("keydown", (event) => moveInResults(event, input, list));
  dialog.addEventListener("click", ({ target }) => {
    // Beside the dialog, or on a result that is on this very page.
    if (target === dialog || target.closest("a") !== null) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select, dialog") !== null;
    const isAsked = (event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey));
    if (!isAsked || dialog.open || event.altKey) return;
    event.preventDefault();
    openSearch();
  });
}

/** Arrows go through the results, Enter opens the first, and Escape closes instead of clearing the field. */
function moveInResults(event, input, list) {
  if (event.key === "Escape") {
    event.preventDefault();
    list.closest("dialog").close();
    return;
  }
  const stops = [input, ...list.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) {
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  } else if (event.key === "Enter" && document.activeElement === input) stops[1]?.click();
}

function resultItem({ href, heading, title, begin }) {
  const link = element("a", { href: new URL(href, base).href });
  link.append(element("b", { textContent: heading }));
  if (title !== heading) link.append(element("span", { textContent: title }));
  link.append(element("small", { textContent: begin }));
  const item = element("li");
  item.append(link);
  return item;
}

/** A script and no request for JSON: pages that are opened as files may not make any. */
function loadSearch() {
  return new Promise((resolve, reject) => {
    const script = element("script", { src: new URL("search.js", base).href });
    script.addEventListener("load", () => resolve(globalThis.siteSearch));
    script.addEventListener("error", reject);
    document.head.append(script);
  });
}

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}
