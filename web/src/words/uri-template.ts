/** Expressions of a template of URIs (RFC 6570): `{path}`, `{+path}`, `{?q,limit}`. */
const expression = /\{([+#./;?&]?)([^{}]+)\}/g;

/** The names of a template's variables, each once, in order. */
export function templateNames(template: string): readonly string[] {
  const found = [...template.matchAll(expression)].flatMap(([, , names = ""]) => names.split(","));
  return [...new Set(found.map((name) => name.replace(/(?:\*|:\d+)$/, "").trim()))];
}

/** The text before an expression's values, the one between them, and whether each has its name. */
const operators: Readonly<Record<string, readonly [first: string, between: string, isNamed: boolean]>> = {
  "": ["", ",", false],
  "+": ["", ",", false],
  "#": ["#", ",", false],
  ".": [".", ".", false],
  "/": ["/", "/", false],
  ";": [";", ";", true],
  "?": ["?", "&", true],
  "&": ["&", "&", true],
};

/** The URI with these values. A variable without one is left out, as the RFC says. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(expression, (_whole, operator: string, names: string) => {
    const [first, between, isNamed] = operators[operator] ?? ["", ",", false];
    const isRaw = operator === "+" || operator === "#";
    const parts = names.split(",").flatMap((written) => {
      const [name = "", length] = written.trim().replace(/\*$/, "").split(":");
      const value = values[name];
      if (value === undefined || value === "") return [];
      const text = length === undefined ? value : Array.from(value).slice(0, Number(length)).join("");
      const encoded = isRaw ? encodeURI(text) : encodeURIComponent(text).replace(/[!'()*]/g, percent);
      return [isNamed ? `${name}=${encoded}` : encoded];
    });
    return parts.length === 0 ? "" : first + parts.join(between);
  });
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
