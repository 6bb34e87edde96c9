import { createLexicalEngine } from "../../src/catalog/discovery/lexical.ts";
import { createUseMemory, type UseMemory } from "../../src/catalog/discovery/memory-of-use.ts";
import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import { createLanguage, type Language } from "../../src/catalog/search/language.ts";
import { systemClock } from "../../src/kernel/runtime/clock.ts";
import { halfOf, type DevQuery } from "./data.ts";
import { askEngine, never, phrasesOf, someone, toRequest } from "./engines.ts";
import { judge, summarise, type Judged, type Measured } from "./measure.ts";

/** One kind of question, without and with what was learned. */
export interface Lesson {
  readonly plain: Measured;
  readonly learned: Measured;
  /** Between these two numbers of points lies the change of recall at five, with 95 % confidence. */
  readonly change5: readonly [least: number, most: number];
}

/** Questions for tools that were used, and for tools that nobody used. */
export interface Learning {
  readonly used: Lesson;
  readonly unused: Lesson;
  /** Of the used ones, those with ten past questions and more: most of these sets have fewer than somebody's tools. */
  readonly often: Lesson;
  /** The same by half of the questions: a gain in one half only is chance. */
  readonly halves: readonly Omit<Learning, "halves">[];
}

/** Each tool is called so often at most. */
const lessonsPerTool = 20;
const foldCount = 5;

interface Answered {
  /** What was asked together, which is no evidence twice. */
  readonly about: string;
  readonly half: 0 | 1;
  /** How often the tools that answer it were called, the one with most. */
  readonly lessons: number;
  readonly plain: Judged;
  readonly learned: Judged;
}

/**
 * Memory of use, measured on questions that it never saw, with half of the tools taught: whoever is used may gain,
 * but those that nobody used must still be found. Four fifths of the questions are searched, and the right tools of
 * the taught half that were offered are called; the last fifth is judged. Then every other fifth, and the other half
 * of the tools. An agent's task stays together.
 */
export async function measureLearning(
  queries: readonly DevQuery[],
  parts: readonly InstanceCatalog[],
): Promise<Learning> {
  const language = createLanguage();
  const plain = askEngine(createLexicalEngine({ phrasesOf, language }), parts);
  const answered: Answered[] = [];
  for (const taughtHalf of [0, 1]) {
    for (let fold = 0; fold < foldCount; fold += 1) {
      const lessons = queries.filter((query) => foldOf(query) !== fold);
      const { memory, used } = await teach(language, parts, lessons, (id) => sumOf(id) % 2 === taughtHalf);
      const learned = askEngine(createLexicalEngine({ phrasesOf, language, memory }), parts);
      for (const query of queries.filter((one) => foldOf(one) === fold)) {
        answered.push({
          about: query.task ?? query.id,
          half: halfOf(query),
          lessons: Math.max(0, ...query.relevant.map((id) => used.get(id) ?? 0)),
          plain: await judged(query, plain),
          learned: await judged(query, learned),
        });
      }
    }
  }
  const of = (list: readonly Answered[]): Omit<Learning, "halves"> => ({
    used: lessonOf(list.filter(({ lessons }) => lessons > 0)),
    unused: lessonOf(list.filter(({ lessons }) => lessons === 0)),
    often: lessonOf(list.filter(({ lessons }) => lessons >= 10)),
  });
  return { ...of(answered), halves: [0, 1].map((half) => of(answered.filter((one) => one.half === half))) };
}

async function teach(
  language: Language,
  parts: readonly InstanceCatalog[],
  lessons: readonly DevQuery[],
  isTaught: (id: string) => boolean,
): Promise<{ readonly memory: UseMemory; readonly used: ReadonlyMap<string, number> }> {
  const memory = await createUseMemory({
    language,
    store: { load: async () => undefined, save: () => undefined },
    clock: systemClock,
    sharedWith: () => null,
    teamOf: () => undefined,
  });
  const teacher = createLexicalEngine({ phrasesOf, language });
  const used = new Map<string, number>();
  for (const query of lessons) {
    const request = toRequest(query.query, parts);
    const tools = (await teacher.search(request, never)).tools.map(({ tool }) => tool);
    memory.offered(someone, request.query, tools);
    for (const tool of tools) {
      const times = used.get(tool.hash) ?? 0;
      if (!query.relevant.includes(tool.hash) || !isTaught(tool.hash) || times >= lessonsPerTool) continue;
      used.set(tool.hash, times + 1);
      memory.executed(someone, tool);
    }
  }
  return { memory, used };
}

async function judged(query: DevQuery, ask: ReturnType<typeof askEngine>): Promise<Judged> {
  const start = performance.now();
  const found = await ask(query);
  return { ...judge(query, found), ms: performance.now() - start };
}

function lessonOf(answered: readonly Answered[]): Lesson {
  return {
    plain: summarise(answered.map((one) => one.plain)),
    learned: summarise(answered.map((one) => one.learned)),
    change5: intervalOf(answered),
  };
}

/** How often questions are drawn anew. */
const draws = 1_000;

/** Bootstrap: what the change would be for other questions of this kind, drawn from these. The same in every run. */
function intervalOf(answered: readonly Answered[]): [number, number] {
  const groups = new Map<string, { sum: number; count: number }>();
  for (const { about, plain, learned } of answered) {
    const group = groups.get(about) ?? { sum: 0, count: 0 };
    groups.set(about, { sum: group.sum + learned.at5 - plain.at5, count: group.count + 1 });
  }
  const all = [...groups.values()];
  const next = createDraw(all.length);
  const means = Array.from({ length: all.length === 0 ? 0 : draws }, () => {
    const drawn = all.map(() => all[next()] as (typeof all)[number]);
    return (100 * drawn.reduce((sum, one) => sum + one.sum, 0)) / drawn.reduce((sum, one) => sum + one.count, 0);
  }).sort((a, b) => a - b);
  const at = (share: number): number => means[Math.floor(share * means.length)] ?? 0;
  return [at(0.025), at(0.975)];
}

/** Numbers below `count`, always in the same order. */
function createDraw(count: number): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % count;
  };
}

function foldOf({ id, task }: Pick<DevQuery, "id" | "task">): number {
  return sumOf(task ?? id) % foldCount;
}

function sumOf(text: string): number {
  let sum = 7;
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) % 1_000_003;
  return sum;
}
