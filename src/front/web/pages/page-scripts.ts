import { createHash } from "node:crypto";

/** A script of a page, which works without it as well. */
export interface PageScript {
  readonly text: string;
  /** As the page's policy names it. */
  readonly hash: string;
}

function toScript(text: string): PageScript {
  return { text, hash: `sha256-${createHash("sha256").update(text).digest("base64")}` };
}

/**
 * Puts the code of a set-up link into its field: browsers do not send what follows the `#`. It is taken out of the
 * address, so that it is in no history; the next empty field is the one to type in.
 */
export const codeScript = toScript(`"use strict";
const field = document.getElementById("code");
function fill() {
  const code = location.hash.slice(1);
  if (code === "") return;
  field.value = code;
  history.replaceState(null, "", location.pathname + location.search);
  [...field.form.elements].find((one) => one.required && one.value === "")?.focus();
}
addEventListener("hashchange", fill);
fill();`);

/** Shows the buttons that copy: without a script, or where browsers keep the clipboard from it, there are none. */
export const copyScript = toScript(`"use strict";
for (const button of navigator.clipboard ? document.querySelectorAll("[data-copy]") : []) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    const before = button.dataset.label ??= button.textContent;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = before), 2000);
  });
}`);
