import { randomBytes } from "node:crypto";

/**
 * The environment variable by which our processes are recognised wherever they are: `TOOLYARD_INSTANCE={gateway}.{n}`
 * is inherited through fork, setsid and daemonising. `gateway` is 128 random bits per run of a gateway, `n` counts
 * its trees. A gateway that is itself a server of another one appends its own marks to the outer ones,
 * `outer.3/inner.1`, so that each gateway still finds all of its own.
 */
export const markerVariable = "TOOLYARD_INSTANCE";

/** Names one tree of one run of a gateway, for example `3f…9c.12`. */
export type TreeMark = string & { readonly __brand: "TreeMark" };

/** Names one run of a gateway: 32 hexadecimal digits. */
export type GatewayMark = string & { readonly __brand: "GatewayMark" };

/** A new random mark. */
export function createGatewayMark(): GatewayMark {
  return randomBytes(16).toString("hex") as GatewayMark;
}

/** The value as a mark; undefined when it is none. */
export function parseGatewayMark(text: unknown): GatewayMark | undefined {
  return typeof text === "string" && /^[0-9a-f]{32}$/.test(text) ? (text as GatewayMark) : undefined;
}

/** The mark of the gateway's nth tree. */
export function toTreeMark(gateway: GatewayMark, n: number): TreeMark {
  return `${gateway}.${n}` as TreeMark;
}

/** The variable's value for a tree; `outer` is its value in the gateway's own environment. */
export function toMarkerValue(mark: TreeMark, outer: string | undefined): string {
  const outerMarks = (outer ?? "").split("/").filter(isTreeMark);
  return [...outerMarks.slice(-maxOuterMarks), mark].join("/");
}

/** The number of gateways above a process with this value. */
export function depthOf(value: string | undefined): number {
  return (value ?? "").split("/").filter(isTreeMark).length;
}

/** The marks in a process's environment as Linux shows it: `NAME=value`, each ended by a zero byte. */
export function readMarks(environment: string): readonly string[] {
  const start = environment.startsWith(`${markerVariable}=`) ? 0 : environment.indexOf(`\0${markerVariable}=`) + 1;
  if (start === 0 && !environment.startsWith(markerVariable)) return noMarks;
  const end = environment.indexOf("\0", start);
  const value = environment.slice(start + markerVariable.length + 1, end === -1 ? undefined : end);
  return value.split("/").filter(isTreeMark);
}

/** Whether a mark names a tree of this gateway. */
export function isOfGateway(mark: string, gateway: GatewayMark): boolean {
  return mark.startsWith(`${gateway}.`);
}

function isTreeMark(text: string): boolean {
  return /^[0-9a-f]{32}\.[0-9]{1,12}$/.test(text);
}

/** More nested gateways than a handful are a loop in somebody's configuration. */
const maxOuterMarks = 8;

const noMarks: readonly string[] = Object.freeze([]);
