import { toClientName, assignNames, claim, claimantsOf, noClaims, type Assigned, type Claims } from "./name-claims.ts";
import { createFindNear, type FindNear, type Near } from "./near-names.ts";
import type { InstanceCatalog, PromptEntry, ToolEntry } from "../snapshot.ts";

/**
 * Every spelling of every tool. Spellings are looked up and never split: the tool `c` of server `a-b` and the tool
 * `b-c` of server `a` stay apart in every spelling.
 */
export interface NameTable {
  /** The names that lists show. Every tool has one per listing, and no two tools share one. */
  flatName(tool: ToolEntry): string;
  namespacedName(tool: ToolEntry): string;
  promptName(prompt: PromptEntry): string;
  /**
   * Finds a tool by any spelling (docs/design.md, "Names"). A name that the given `listing` shows always means the
   * tool it shows.
   */
  find(spelling: string, listing?: Listing): Found;
  findPrompt(name: string): PromptEntry | undefined;
  /**
   * Makes in steps of about a millisecond what names in this listing, and paths, are looked up in, and then what it
   * takes to find this spelling; undefined when that is made. Whatever is not made yet is made at once by the look-up
   * that needs it, which in a view of a hundred thousand tools takes a tenth of a second for each kind of spelling.
   */
  inSteps(listing?: Listing, spelling?: string): Generator<undefined, void> | undefined;
  /** All tools, in the order of the parts. */
  readonly tools: readonly ToolEntry[];
}

export type Listing = "flat" | "namespaced";

export type Found =
  | { readonly kind: "one"; readonly tool: ToolEntry; readonly form: "path" | "flat" | "namespaced" | "dot" }
  | { readonly kind: "bare"; readonly tool: ToolEntry }
  | { readonly kind: "several"; readonly tools: readonly ToolEntry[] }
  | { readonly kind: "none" };

export interface NamedCatalog {
  readonly catalog: Pick<InstanceCatalog, "tools" | "prompts">;
  readonly namespace: string;
  /**
   * The namespace that the server would have if no other claimed it too. Calls may use it as long as it means one
   * tool.
   */
  readonly sharedNamespace?: string | undefined;
}

/**
 * Builds the table for what one principal may see. Deterministic: the order of `catalogs` only breaks ties in the
 * listing. Each spelling's part of it is made when somebody first uses that spelling: those who call by path, as most
 * do, wait for no other.
 */
export function buildNames(catalogs: readonly NamedCatalog[]): NameTable {
  const tools = catalogs.flatMap(({ catalog }) => catalog.tools);
  const ofTool = (toText: (tool: ToolEntry, namespace: string) => string) =>
    madeInSteps(() => {
      const namespaces = catalogs.flatMap(({ catalog, namespace }) => catalog.tools.map(() => namespace));
      return assignNames(tools.length, (at) => {
        const item = tools[at] as ToolEntry;
        return { item, text: toText(item, namespaces[at] as string), identity: item.path };
      });
    });
  const paths = madeInSteps(() => readPaths(tools));
  const flat = ofTool(flatText);
  const namespaced = ofTool((tool, namespace) => `${namespace}__${tool.definition.name}`);
  const others = madeInSteps(() => readOthers(catalogs));
  const bare = madeInSteps(() => readBare(tools));
  const prompts = madeInSteps(() => assignPrompts(catalogs));
  const listings = { flat, namespaced };
  let near: FindNear | undefined;

  /** All forms but the path share one set of names: a spelling that means two tools in two forms belongs to neither. */
  function findForm(spelling: string): readonly Spelt[] {
    const claimed = [...claimantsOf(others.get(), spelling)];
    for (const form of ["namespaced", "flat"] as const)
      for (const tool of listings[form].get().owners(spelling)) claimed.push({ tool, form });
    const seen = new Set<ToolEntry>();
    return claimed.filter(({ tool }) => !seen.has(tool) && seen.add(tool));
  }

  const isListed = (spelling: string, listing: Listing | undefined): boolean =>
    listing !== undefined && listings[listing].get().listed.has(spelling);

  /** All that is looked up for a spelling that is neither listed nor a path. */
  const forms = [others, namespaced, flat];

  /** Whether `stepsTo` has nothing to make. Asked at every call. */
  function isMadeTo(listing: Listing | undefined, spelling: string | undefined): boolean {
    if (!paths.isMade || (listing !== undefined && !listings[listing].isMade)) return false;
    if (spelling === undefined || isListed(spelling, listing) || paths.get().has(spelling)) return true;
    return forms.every(({ isMade }) => isMade) && (bare.isMade || findForm(spelling).length > 0);
  }

  /** In the order of `find`, and no further than it has to look. */
  function* stepsTo(listing: Listing | undefined, spelling: string | undefined): Generator<undefined, void> {
    if (listing !== undefined) yield* listings[listing].steps();
    yield* paths.steps();
    if (spelling === undefined || isListed(spelling, listing) || paths.get().has(spelling)) return;
    for (const part of forms) yield* part.steps();
    if (findForm(spelling).length === 0) yield* bare.steps();
  }

  function find(spelling: string, listing?: Listing): Found {
    const listed = listing === undefined ? undefined : listings[listing].get().listed.get(spelling);
    if (listed !== undefined && listing !== undefined) return { kind: "one", tool: listed, form: listing };
    const byPath = paths.get().get(spelling);
    if (byPath !== undefined) return { kind: "one", tool: byPath, form: "path" };
    const byForm = findForm(spelling);
    if (byForm.length > 0) return toFound(byForm);
    const byName = claimantsOf(bare.get(), spelling);
    const [only] = byName;
    if (only !== undefined)
      return byName.length === 1 ? { kind: "bare", tool: only } : { kind: "several", tools: byName };
    const trimmed = spelling.trim();
    if (trimmed !== spelling) return find(trimmed, listing);
    near ??= createFindNear(catalogs, { namespaced: namespaced.get().names, flat: flat.get().names });
    return toFound(near(spelling));
  }

  return {
    tools,
    flatName: (tool) => flat.get().names.get(tool) ?? tool.path,
    namespacedName: (tool) => namespaced.get().names.get(tool) ?? tool.path,
    promptName: (prompt) => prompts.get().names.get(prompt) ?? prompt.definition.name,
    findPrompt: (name) => prompts.get().owners(name)[0],
    inSteps: (listing, spelling) => (isMadeTo(listing, spelling) ? undefined : stepsTo(listing, spelling)),
    find,
  };
}

/** Each of them is another tool. */
function toFound(named: readonly (Spelt | Near)[]): Found {
  const [first] = named;
  if (first === undefined) return { kind: "none" };
  return named.length === 1 ? { kind: "one", ...first } : { kind: "several", tools: named.map(({ tool }) => tool) };
}

function flatText(tool: ToolEntry): string {
  return `${tool.server}-${tool.definition.name}`;
}

/** The name that the flat list shows for a tool when no other tool claims it: without the table of all names. */
export function plainFlatName(tool: ToolEntry): string {
  return toClientName(flatText(tool), tool.path);
}

interface Spelt {
  readonly tool: ToolEntry;
  readonly form: "flat" | "namespaced" | "dot";
}

/** Tools that a step looks at: a millisecond or less. */
const toolsInStep = 1_000;

function* readPaths(tools: readonly ToolEntry[]): Generator<undefined, ReadonlyMap<string, ToolEntry>> {
  const paths = new Map<string, ToolEntry>();
  for (const [at, tool] of tools.entries()) {
    if (at % toolsInStep === 0) yield;
    paths.set(tool.path, tool);
  }
  return paths;
}

function* readBare(tools: readonly ToolEntry[]): Generator<undefined, Claims<ToolEntry>> {
  const bare = noClaims<ToolEntry>();
  for (const [at, tool] of tools.entries()) {
    if (at % toolsInStep === 0) yield;
    claim(bare, tool.definition.name, tool);
  }
  return bare;
}

/** The forms that no list shows. */
function* readOthers(catalogs: readonly NamedCatalog[]): Generator<undefined, Claims<Spelt>> {
  const others = noClaims<Spelt>();
  let seen = 0;
  for (const { catalog, namespace, sharedNamespace } of catalogs) {
    for (const tool of catalog.tools) {
      seen += 1;
      if (seen % toolsInStep === 0) yield;
      const { name } = tool.definition;
      const dot: Spelt = { tool, form: "dot" };
      claim(others, `${namespace}.${name}`, dot);
      if (sharedNamespace === undefined) continue;
      claim(others, `${sharedNamespace}.${name}`, dot);
      const shared = toClientName(`${sharedNamespace}__${name}`, `${sharedNamespace}:${name}`);
      claim(others, shared, { tool, form: "namespaced" });
    }
  }
  return others;
}

function assignPrompts(catalogs: readonly NamedCatalog[]): Generator<undefined, Assigned<PromptEntry>> {
  const prompts = catalogs.flatMap(({ catalog }) => catalog.prompts);
  return assignNames(prompts.length, (at) => {
    const item = prompts[at] as PromptEntry;
    const { server, definition } = item;
    return { item, text: `${server}-${definition.name}`, identity: `${server}:${definition.name}` };
  });
}

/** Something large that is made when it is first needed. */
export interface MadeInSteps<T> {
  /** All that is left to make is made at once. */
  get(): T;
  readonly isMade: boolean;
  /** Makes it in steps of about a millisecond, between which there may be other work. */
  steps(): Generator<undefined, void>;
}

/**
 * Nothing is made yet. A caller that takes a step, or asks for the whole, goes on where the last one stopped. An error
 * of `make` is thrown to the caller of that step, and the next step starts over.
 */
export function madeInSteps<T extends object>(make: () => Generator<undefined, T>): MadeInSteps<T> {
  let making: Generator<undefined, T> | undefined;
  let made: T | undefined;

  function takeStep(): T | undefined {
    making ??= make();
    let isOver = true;
    try {
      const step = making.next();
      if (step.done === true) made = step.value;
      else isOver = false;
    } finally {
      // One that has thrown would answer for ever that it is done, with nothing; one that is done keeps what it read.
      if (isOver) making = undefined;
    }
    return made;
  }

  return {
    get isMade() {
      return made !== undefined;
    },
    get() {
      let done = made;
      while (done === undefined) done = takeStep();
      return done;
    },
    *steps() {
      while (made === undefined) {
        takeStep();
        yield;
      }
    },
  };
}
