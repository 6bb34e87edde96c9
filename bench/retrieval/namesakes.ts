import { toWords } from "../../src/catalog/search/language/words.ts";

/** Words that say how a tool is built or called, not what it is for. */
const generic = new Set(
  `
  a ai an and api app by for from generate id in info information is name new of on plugin the to tool v view
  add calculate call check compute create data delete detail details fetch find function get list lookup make query
  read retrieve run search set show update write
  `
    .trim()
    .split(/\s+/),
);

/**
 * Tells whether one of these tools is called like another: all telling words of one name are in the other, or half of
 * all. A question for `WeatherTool` has an answer in a catalog with `get_weather_forecast`, although it was written
 * for another catalog. Looks at names only, never at the question, so that the search under test has no part in
 * choosing its own questions.
 */
export function createNamesakes(
  tools: readonly { readonly name: string }[],
  stem: (word: string) => string,
): (name: string) => boolean {
  const tellingOf = (name: string): Set<string> =>
    new Set(
      toWords(name)
        .filter((word) => !generic.has(word) && !/^\d+$/.test(word))
        .map(stem),
    );
  const names = tools.map((tool) => tellingOf(tool.name)).filter((words) => words.size > 0);
  const memo = new Map<string, boolean>();
  return (name) => {
    let known = memo.get(name);
    if (known === undefined) memo.set(name, (known = isNamed(tellingOf(name), names)));
    return known;
  };
}

function isNamed(wanted: ReadonlySet<string>, names: readonly ReadonlySet<string>[]): boolean {
  if (wanted.size === 0) return false;
  return names.some((name) => {
    let shared = 0;
    for (const word of wanted) if (name.has(word)) shared += 1;
    const least = Math.min(wanted.size, name.size);
    return shared === least || shared / (wanted.size + name.size - shared) >= 0.5;
  });
}
