import type { Pool } from "pg";
import type { Claimed, ClusterStore, NodeKey, NodeRow, Taken, Want, Whereabouts } from "../../shared.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { connectClient, openPlainPool, requireOwnConnections, type ConnectionOptions } from "./postgres-connection.ts";
import type { PgModule } from "./postgres-dialect.ts";
import { isPooled, nameDatabase, toPostgresProblem } from "./postgres-errors.ts";

/** A schema of its own: backups of the state do not have it. */
const schema = "toolyard_cluster";
/** Any number: the lock of those who make the tables. */
const setupLock = 7_402_886_519;
/** Two nodes may judge a lease by clocks that are this far apart. */
const graceMs = 250;
/** How long rows are kept that mean nothing any more. */
const keptNodes = "1 hour";
const keptInstances = "30 days";
/** A want that was not repeated for so long has passed. */
const keptWants = "10 seconds";
/** Two nodes that cannot reach each other do not throw an instance back and forth: one of them has it for so long. */
const grantEvery = "1 minute";
const mostWants = 16;
/** An heir that has not taken it by then does not get the calls, or none can tell it. */
const heirPatience = "5 seconds";

const setup = `
  create schema if not exists ${schema};
  create table if not exists ${schema}.nodes (
    id text primary key, epoch bigint not null, until timestamptz not null, state text not null,
    address text not null, info jsonb not null);
  create table if not exists ${schema}.owners (
    instance text primary key, node text, node_epoch bigint, epoch bigint not null, heir text,
    at timestamptz not null default now());
  create index if not exists owners_by_node on ${schema}.owners (node);
  create table if not exists ${schema}.homes (
    instance text primary key, node text not null, at timestamptz not null default now());
  create table if not exists ${schema}.wants (
    instance text primary key, node text not null, since timestamptz not null, at timestamptz not null,
    granted timestamptz);`;
/** What the last step made: the steps are repeated where it is not there. Each only adds, and is left out by others. */
const lastMade = "wants";

const nodeColumns = `n.id, n.epoch::float8 as epoch, n.address, n.state, n.info,
  (extract(epoch from n.until - clock_timestamp()) * 1000)::float8 as "leftMs"`;

/** A node whose row says that it lives. `$4`: whether one whose lease has run out does not. */
const lives = `n.state <> 'dead' and (not $4::boolean or n.until + interval '${graceMs} ms' > clock_timestamp())`;

/** Who had it comes from the row as it was before. */
const claimSql = `
  with before as (
    select o.node, o.heir, n.epoch = o.node_epoch and n.state <> 'dead' as lives from ${schema}.owners o
    left join ${schema}.nodes n on n.id = o.node where o.instance = $1)
  , claimed as (
  insert into ${schema}.owners as o (instance, node, node_epoch, epoch)
  select $1, $2, $3, 1 where exists (
    select 1 from ${schema}.nodes n
    where n.id = $2 and n.epoch = $3::bigint and n.state = 'ready' and n.until > clock_timestamp())
    and not ($5::boolean and exists (select 1 from ${schema}.homes h where h.instance = $1 and h.node <> $2))
  on conflict (instance) do update
    set node = excluded.node, node_epoch = excluded.node_epoch, epoch = o.epoch + 1, heir = null, at = now()
  where o.node = $2 and o.node_epoch = $3::bigint
    or o.node is not null and not exists (
      select 1 from ${schema}.nodes n where n.id = o.node and n.epoch = o.node_epoch and ${lives})
    or o.node is null and (o.heir is null or o.heir = $2
      or $4::boolean and o.at < now() - interval '${heirPatience}' or not exists (
      select 1 from ${schema}.nodes n
      where n.id = o.heir and n.state = 'ready' and n.until > clock_timestamp()))
  returning o.epoch::float8 as epoch)
  , kept as (insert into ${schema}.homes (instance, node) select $1, $2 from claimed where $5::boolean
    on conflict (instance) do nothing)
  select claimed.epoch, before.node as "from", before.heir, before.lives from claimed left join before on true`;

const ownerSql = `
  select ${nodeColumns}, h.node as home from (select $1::text as instance) i
  left join ${schema}.homes h on h.instance = i.instance
  left join ${schema}.owners o on o.instance = i.instance
  left join ${schema}.nodes n on n.id = coalesce(o.node, o.heir) and (o.node is null or n.epoch = o.node_epoch)`;

const wantedSql = `
  select w.instance, w.node, (extract(epoch from now() - w.since) * 1000)::float8 as "forMs" from ${schema}.wants w
  join ${schema}.owners o on o.instance = w.instance and o.node = $1 and o.node_epoch = $2::bigint
  where w.node <> $1 and w.at > now() - interval '${keptWants}'
    and (w.granted is null or w.granted < now() - interval '${grantEvery}')
  order by w.since limit ${mostWants}`;

/** Opens two connections to the database for leases and claims; with longer statements than a lease has time for. */
export function openClusterDatabase(
  pg: PgModule,
  { url, statementMs }: { readonly url: string; readonly statementMs: number },
): ClusterStore {
  const options = { pg, url, limits: { connections: 2, statementMs } };
  const pool = openPlainPool(options);
  return {
    ...openOwners(pool),
    ...openWants(pool),
    async nodes() {
      await refusePooled(options);
      await setUp(pool);
      return (await pool.query<NodeRow>(`select ${nodeColumns} from ${schema}.nodes n`)).rows;
    },
    async join({ id, address, leastEpoch, leaseMs, state, info }) {
      await setUp(pool);
      // Epochs are times, so that they grow although old rows of nodes are removed.
      const { rows } = await pool.query<{ epoch: number }>(
        `insert into ${schema}.nodes as n (id, epoch, until, state, address, info)
         values ($1, greatest($2::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint),
           clock_timestamp() + make_interval(secs => $3::float8 / 1000), $4, $5, $6)
         on conflict (id) do update set epoch = greatest(n.epoch + 1, excluded.epoch), until = excluded.until,
           state = excluded.state, address = excluded.address, info = excluded.info
         returning n.epoch::float8 as epoch`,
        [id, leastEpoch, leaseMs, state, address, JSON.stringify(info)],
      );
      return rows[0]?.epoch ?? leastEpoch;
    },
    async renew({ id, epoch }, { leaseMs, state, info }) {
      const { rows } = await pool.query<RenewedRow>(
        `with mine as (
           update ${schema}.nodes set until = clock_timestamp() + make_interval(secs => $3::float8 / 1000),
             state = $4, info = $5 where id = $1 and epoch = $2::bigint and state <> 'dead' returning 1)
         select (select count(*)::int from ${schema}.owners where node = $1 and node_epoch = $2::bigint and exists (
             select 1 from mine)) as owned,
           (select json_agg(all_nodes) from (select ${nodeColumns} from ${schema}.nodes n) all_nodes) as nodes,
           (select json_agg(asked) from (${wantedSql}) asked) as wanted,
           (select count(*) from mine)::int as mine`,
        [id, epoch, leaseMs, state, JSON.stringify(info)],
      );
      const [row] = rows;
      const { mine, owned = 0, nodes, wanted } = row ?? {};
      return { isMine: mine === 1, owned, nodes: nodes ?? [], wanted: wanted ?? [] };
    },
    async maxConnections() {
      const { rows } = await pool.query<{ most: number }>("select current_setting('max_connections')::int as most");
      return rows[0]?.most ?? 0;
    },
    async markDead({ id, epoch }: NodeKey) {
      await pool.query(`update ${schema}.nodes set state = 'dead' where id = $1 and epoch = $2::bigint`, [id, epoch]);
    },
    close: async () => await pool.end(),
  };
}

/** The table of who runs what. */
function openOwners(pool: Pool): Pick<ClusterStore, "claim" | "whereIs" | "giveFiles" | "release" | "owned"> {
  async function whereIs(instance: string): Promise<Whereabouts> {
    const { rows } = await pool.query<NodeRow & { id: string | null; home: string | null }>(ownerSql, [instance]);
    const { home = null, ...node } = rows[0] ?? { id: null };
    return { node: node.id === null ? undefined : (node as NodeRow), home: home ?? undefined };
  }

  return {
    async claim(instance, { id, epoch }, { takesLapsed, keepsFiles }): Promise<Claimed> {
      const claimed = await pool.query<ClaimedRow>(claimSql, [instance, id, epoch, takesLapsed, keepsFiles]);
      const [mine] = claimed.rows;
      if (mine !== undefined) return { kind: "mine", epoch: mine.epoch, ...takenBy(id, mine) };
      return { kind: "taken", ...(await whereIs(instance)) };
    },
    whereIs,
    async giveFiles(instance, node) {
      await pool.query(
        `insert into ${schema}.homes as h (instance, node) values ($1, $2)
         on conflict (instance) do update set node = excluded.node, at = now()`,
        [instance, node],
      );
    },
    async release({ instance, node, epoch }, heir) {
      const client = await pool.connect().catch(() => undefined);
      if (client === undefined) return "unasked";
      try {
        // Carried out late, it must not give back what was claimed again meanwhile.
        await client.query(
          `update ${schema}.owners set node = null, node_epoch = null, heir = $5, at = now()
           where instance = $1 and node = $2 and node_epoch = $3::bigint and epoch = $4::bigint`,
          [instance, node.id, node.epoch, epoch, heir ?? null],
        );
        client.release();
        return "released";
      } catch {
        client.release(true);
        return "unknown";
      }
    },
    async owned({ id, epoch }) {
      const { rows } = await pool.query<{ instance: string }>(
        `select instance from ${schema}.owners where node = $1 and node_epoch = $2::bigint`,
        [id, epoch],
      );
      return rows.map(({ instance }) => instance);
    },
  };
}

/** The table of what nodes want that cannot reach each other. */
function openWants(pool: Pool): Pick<ClusterStore, "want" | "grant"> {
  return {
    async want(instance, owner, by) {
      await pool.query(
        `insert into ${schema}.wants as w (instance, node, since, at) select $1, $4, now(), now() where exists (
           select 1 from ${schema}.owners where instance = $1 and node = $2 and node_epoch = $3::bigint)
         on conflict (instance) do update set node = excluded.node, at = excluded.at, since = case
           when w.node = excluded.node and w.at > now() - interval '${keptWants}' then w.since else excluded.since end`,
        [instance, owner.id, owner.epoch, by.id],
      );
    },
    async grant({ instance, node }) {
      const { rowCount } = await pool.query(
        `update ${schema}.wants set granted = now() where instance = $1 and node = $2
           and (granted is null or granted < now() - interval '${grantEvery}')`,
        [instance, node],
      );
      return rowCount === 1;
    },
  };
}

interface RenewedRow {
  readonly owned: number;
  readonly nodes: readonly NodeRow[] | null;
  readonly wanted: readonly Want[] | null;
  readonly mine: number;
}

interface ClaimedRow {
  readonly epoch: number;
  readonly from: string | null;
  readonly heir: string | null;
  readonly lives: boolean | null;
}

/** A new life of the same node takes nothing from another one. */
function takenBy(id: string, { from, heir, lives: isAlive }: ClaimedRow): { readonly taken?: Taken } {
  if (from === id || (from === null && heir === null)) return {};
  if (from === null) return { taken: { from: undefined, why: "handed over" } };
  return { taken: { from, why: isAlive === true ? "lapsed" : "dead" } };
}

/** Throws CONFIG_INVALID where a pooler in another mode than that of sessions is before the database. */
async function refusePooled(options: ConnectionOptions): Promise<void> {
  const client = await connectClient(options);
  try {
    await requireOwnConnections(client, options);
  } catch (error) {
    if (!isPooled(error)) throw error;
    const { message, hint } = toPostgresProblem(error, nameDatabase(options.url));
    throw new GatewayError("CONFIG_INVALID", message, { hint });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Makes the tables where they are not there, and removes rows of no use. */
async function setUp(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1::bigint)", [setupLock]);
    const { rows } = await client.query<{ found: string | null }>("select to_regclass($1)::text as found", [
      `${schema}.${lastMade}`,
    ]);
    if (rows[0]?.found === null) await client.query(setup);
    await client.query(`delete from ${schema}.nodes where until < now() - interval '${keptNodes}'`);
    await client.query(`delete from ${schema}.wants where at < now() - interval '${keptNodes}'`);
    await client.query(`delete from ${schema}.owners where node is null and at < now() - interval '${keptInstances}'`);
    await client.query("commit");
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}
