import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { counted, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { useOrder } from "../../api/queries.ts";
import { OutcomeNote } from "../basic/outcome-note.tsx";
import { useRested } from "../basic/rested.ts";
import { Empty, FailureNote, Loaded } from "../basic/states.tsx";
import { SelectField, TextField } from "../forms/field.tsx";
import { ServerIcon } from "./server-icon.tsx";

export type Offer = Schemas["ServerOffers"]["servers"][number];

interface CatalogProps {
  /** The one that was chosen; undefined until then. */
  readonly chosen: Offer | undefined;
  readonly onChoose: (offer: Offer | undefined) => void;
}

/** The registry is not asked for less. */
const leastLetters = 3;

/** Servers that were tried with this gateway, and those of the registry: each with what it will need. */
export function ServerCatalog({ chosen, onChoose }: CatalogProps) {
  const [text, setText] = useState("");
  const search = useRested(text.trim());
  const tested = useQuery({
    queryKey: ["config", "catalog"],
    queryFn: async () => await valueOf(api.GET("/api/catalog")),
  });
  const registry = useQuery({
    queryKey: ["config", "catalog", search],
    queryFn: async () => await valueOf(api.GET("/api/catalog/registry", { params: { query: { search } } })),
    enabled: search.length >= leastLetters,
    retry: false,
  });
  if (chosen !== undefined)
    return (
      <div className="named">
        <ServerIcon name={chosen.name} />
        <div className="grow">
          <OfferText offer={chosen} />
        </div>
        <Button onClick={() => onChoose(undefined)}>Choose another</Button>
      </div>
    );
  const words = search.toLowerCase();
  const fits = ({ name, description }: Offer): boolean => `${name} ${description}`.toLowerCase().includes(words);
  return (
    <>
      <TextField
        label="Search"
        type="search"
        hint={`Tested servers by what they do; from ${leastLetters} letters on, also names of the MCP registry.`}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Loaded query={tested}>
        {({ servers }) => {
          const found = servers.filter(fits);
          return <Offers title={counted(found.length, "tested server")} offers={found} onChoose={onChoose} />;
        }}
      </Loaded>
      {search.length >= leastLetters && (
        <Loaded query={registry}>
          {({ servers }) => (
            <Offers
              title={`${counted(servers.length, "server")} of the registry, unchecked`}
              offers={servers}
              onChoose={onChoose}
            />
          )}
        </Loaded>
      )}
    </>
  );
}

interface OffersProps extends Pick<CatalogProps, "onChoose"> {
  readonly title: string;
  readonly offers: readonly Offer[];
}

function Offers({ title, offers, onChoose }: OffersProps) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {offers.length === 0 && <Empty title="None fits" />}
      <ul className="list offers">
        {offers.map((offer) => (
          <li key={offer.target} className="named">
            <ServerIcon name={offer.name} />
            <div className="grow">
              <OfferText offer={offer} />
            </div>
            {offer.isConfigured ? (
              <span className="muted">Added</span>
            ) : (
              <Button aria-label={`Choose ${plain(offer.target)}`} onClick={() => onChoose(offer)}>
                Choose
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function OfferText({ offer: { target, version, description, warning, ...offer } }: { readonly offer: Offer }) {
  return (
    <>
      <strong>{plain(target)}</strong> {version !== null && <span className="muted">{plain(version)}</span>}
      <span className="second">{plain(description)}</span>
      {warning !== null && <span className="second bad-text">{plain(warning)}</span>}
      <span className="second">{needsText(offer)}</span>
    </>
  );
}

/** What it will need, in a few words. */
function needsText({ program, mayAskForLogin, takes }: Pick<Offer, "program" | "mayAskForLogin" | "takes">): string {
  const named = (fits: (taken: Offer["takes"][number]) => boolean): string =>
    takes
      .filter((taken) => taken.isRequired && fits(taken))
      .map(({ name }) => plain(name))
      .join(", ");
  const files = named(({ isFile }) => isFile);
  const values = named(({ isFile }) => !isFile);
  const needs = [
    ...(program === null ? [] : [programText(program)]),
    ...(mayAskForLogin ? ["perhaps a login"] : []),
    ...(files === "" ? [] : [`a file or folder (${files})`]),
    ...(values === "" ? [] : [values]),
  ];
  return `Needs ${needs.length === 0 ? "nothing" : needs.join("; ")}`;
}

/** What a program comes with, where it has another name. */
const packages: Readonly<Record<string, string>> = { npx: "Node.js", uvx: "uv", docker: "Docker", dnx: ".NET" };

function programText({ name, isThere }: NonNullable<Offer["program"]>): string {
  const from = packages[name];
  return `${plain(name)}${from === undefined ? "" : ` (${from})`}, which is ${isThere ? "" : "not "}installed`;
}

interface TakenFieldsProps {
  readonly offer: Offer;
  readonly given: Readonly<Record<string, string>>;
  readonly onChange: (given: Readonly<Record<string, string>>) => void;
}

/** A field for each value that it takes: the needed ones first. */
export function TakenFields({ offer: { takes }, given, onChange }: TakenFieldsProps) {
  const sorted = [...takes].sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
  return sorted.map(({ name, description, isSecret, isRequired, choices, placeholder, preset }) => {
    const about = [plain(description), isSecret ? "Kept encrypted, never in the file." : ""].filter(
      (part) => part !== "",
    );
    const shared = {
      label: `${plain(name)}${isRequired ? " (needed)" : ""}`,
      hint: about.join(" "),
      value: given[name] ?? "",
    };
    const change = (value: string): void => onChange({ ...given, [name]: value });
    if (choices !== null)
      return (
        <SelectField
          key={name}
          {...shared}
          choices={[["", preset ?? "not given"], ...choices.map((choice) => [choice, plain(choice)] as const)]}
          onChange={({ target }) => change(target.value)}
        />
      );
    return (
      <TextField
        key={name}
        {...shared}
        type={isSecret ? "password" : "text"}
        autoComplete={isSecret ? "new-password" : "off"}
        placeholder={plain(placeholder ?? (isRequired ? "" : (preset ?? "")))}
        onChange={({ target }) => change(target.value)}
      />
    );
  });
}

/** Adds three servers that need no account and touch nothing of anybody's, to try the gateway with. */
export function ExampleServers() {
  const add = useOrder(async () => await valueOf(api.POST("/api/servers", { body: { examples: true } })), {
    changes: [["status"], ["tools"], ["config"]],
  });
  return (
    <>
      <Button isBusy={add.isPending} onClick={() => add.mutate(undefined)}>
        Try it with three examples
      </Button>
      {add.error !== null && <FailureNote error={add.error} />}
      {add.data !== undefined && <OutcomeNote outcome={add.data} done="They are added, and are starting." />}
    </>
  );
}
