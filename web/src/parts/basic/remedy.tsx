import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client.ts";
import { useWho } from "../../api/who.ts";
import { plain } from "../../words/format.ts";
import { isOfValue, remedies } from "../../words/status.ts";

/** The way to what one does about a server; nothing where all is well, or where only somebody else can do it. */
export function Remedy({ server }: { readonly server: Schemas["ServerStatus"] }) {
  const who = useWho();
  if (server.next === null) return null;
  const { step, text } = server.next;
  const { word, tab } = remedies[isOfValue(server.next) ? "fill-in" : step];
  const title = plain(step === "fill-in" ? text : `${server.reason} ${text}`.trim());
  if (who.isPerson && (step === "log-in" || step === "fill-in")) {
    // People log in and give values on a page of their own; not for each other.
    if (server.owner !== null && server.owner !== who.principal) return null;
    return (
      <a href={`/connect/${encodeURIComponent(server.instance)}`} title={title}>
        {word}
      </a>
    );
  }
  return (
    <Link
      to="/servers/$server"
      params={{ server: server.server }}
      search={{ instance: server.instance, tab }}
      title={title}
    >
      {word}
    </Link>
  );
}
