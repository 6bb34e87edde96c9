import { createDiscovery } from "../../src/catalog/discovery/discovery.ts";
import { createFindSkills } from "../../src/catalog/discovery/skill-search.ts";
import { createFindMeant } from "../../src/catalog/discovery/server-intent.ts";
import { createCurrentCatalog } from "../../src/catalog/model/current.ts";
import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import type { StatusView } from "../../src/catalog/model/view.ts";
import { createViews } from "../../src/catalog/model/views.ts";
import type { InstanceId, PrincipalId } from "../../src/kernel/ids.ts";
import { localPrincipal, type Principal } from "../../src/kernel/principal.ts";
import { createViewVersions } from "../../src/servers/instance/fleet/fleet.ts";
import { lexicalEngine, never } from "../retrieval/engines.ts";
import { costOf, usedBytes, type Cost } from "./cost.ts";

export interface PeoplePoint {
  readonly people: number;
  readonly instances: number;
  readonly toolsEach: number;
  /** What all catalogs, views and indexes hold, after everybody has searched once. */
  readonly bytes: number;
  readonly search: Cost;
  /** The next view of the person whose own server changed its status, and that of everybody else. */
  readonly ownViewUs: number;
  readonly otherViewUs: number;
}

const searches = 2_000;

/** As many people, each with an instance of their own of every server. */
export async function measurePeople(
  people: number,
  offers: readonly InstanceCatalog[],
  queries: readonly string[],
): Promise<PeoplePoint> {
  // What the language holds is there for one person too.
  const engine = lexicalEngine();
  await engine.prepare(offers.slice(0, 1), never);
  const before = usedBytes();
  const world = createWorld(people, offers);
  const discovery = createDiscovery(async () => ({
    engine,
    memory: undefined,
    enrichment: undefined,
    phraseSource: () => undefined,
    findMeant: createFindMeant(lexicalEngine()),
    findSkills: createFindSkills(lexicalEngine()),
    phrasesOf: () => [],
    close: async () => undefined,
  }));
  const search = async (at: number): Promise<void> => {
    const view = world.viewOf(world.principals[at % people] as Principal);
    const request = {
      queries: [queries[at % queries.length] as string],
      limit: 10,
      server: undefined,
      readOnly: false,
    };
    await discovery.search(view, request, never);
  };
  for (let at = 0; at < Math.max(people, 200); at += 1) await search(at);
  const bytes = usedBytes() - before;
  const cost = await costOf(searches, search);
  const toolsEach = offers.reduce((sum, { tools }) => sum + tools.length, 0);
  return { people, instances: people * offers.length, toolsEach, bytes, search: cost, ...world.viewCosts() };
}

function createWorld(people: number, offers: readonly InstanceCatalog[]) {
  const catalog = createCurrentCatalog();
  const versions = createViewVersions();
  const standings = new Map<PrincipalId, StatusView[]>();
  const principals = Array.from({ length: people }, (_, at): Principal => ({
    ...localPrincipal,
    id: `person-${at}` as PrincipalId,
  }));
  for (const { id } of principals) {
    // Each instance lists its tools itself: nothing of one answer is part of another.
    for (const offer of structuredClone(offers)) catalog.put({ ...offer, instance: idOf(offer, id) });
    standings.set(
      id,
      offers.map((offer) => toStanding(offer, id)),
    );
  }
  const viewOf = createViews(
    { versionOf: versions.of, statusViews: ({ id }) => standings.get(id) ?? [], catalogOf: catalog.get },
    () => true,
  );

  function changeOne(principal: Principal): void {
    const own = standings.get(principal.id) ?? [];
    const [first, ...rest] = own;
    if (first !== undefined) standings.set(principal.id, [{ ...first, dormant: !first.dormant }, ...rest]);
    versions.noteChange({ owner: principal.id, team: undefined });
  }

  function viewCosts(): Pick<PeoplePoint, "ownViewUs" | "otherViewUs"> {
    const rounds = 500;
    let own = 0;
    let others = 0;
    let looked = 0;
    for (let round = 0; round < rounds; round += 1) {
      const who = principals[round % people] as Principal;
      changeOne(who);
      const start = performance.now();
      viewOf(who);
      own += performance.now() - start;
      const othersStart = performance.now();
      for (const other of principals.slice(0, 20)) if (other !== who) viewOf(other);
      others += performance.now() - othersStart;
      looked += Math.min(20, people) - 1;
    }
    return { ownViewUs: (1_000 * own) / rounds, otherViewUs: looked <= 0 ? 0 : (1_000 * others) / looked };
  }

  return { principals, viewOf, viewCosts };
}

function idOf({ server }: InstanceCatalog, person: string): InstanceId {
  return `${server}-${person}` as InstanceId;
}

function toStanding(offer: InstanceCatalog, person: string): StatusView {
  return {
    slug: offer.server,
    title: offer.serverTitle,
    namespace: offer.server,
    category: undefined,
    icon: undefined,
    priority: "normal",
    transport: "stdio",
    instance: idOf(offer, person),
    status: "online",
    dormant: false,
    reason: "",
    shown: true,
  };
}
