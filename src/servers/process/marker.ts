import { randomBytes } from "node:crypto";

/**
 * How a process is known to be ours wherever it went: `TOOLYARD_INSTANCE={gateway}.{n}` in its environment, which fork,
 * setsid and daemonising inherit. `gateway` is 128 random bits per gateway run, `n` counts its trees. A gateway that
 * is itself a server of another one puts its own marks behind the outer ones, `outer.3/inner.1`, so that each still
 * finds all of its own.
 */
export const markerVariable = "TOOLYARD_INSTANCE";

/** Names one tree of one gateway run, such as `3f…9c.12`. */
export type TreeMark = string & { readonly __brand: "TreeMark" };

/** Names one gateway run: 32 hexadecimal digits. */
export type GatewayMark = string & { readonly __brand: "GatewayMark" };

export function createGatewayMark(): GatewayMark {
  return randomBytes(16).toString("hex") as GatewayMark;
}

export function parseGatewayMark(text: unknown): GatewayMark | undefined {
  return typeof text === "string" && /^[0-9a-f]{32}$/.test(text) ? (text as GatewayMark) : undefined;
}

export function toTreeMark(gateway: GatewayMark, n: number): TreeMark {
  return `${gateway}.${n}` as TreeMark;
}

/** The value of the variable for a tree; `outer` is the variable as the gateway itself was given it. */
export function toMarkerValue(mark: TreeMark, outer: string | undefined): string {
  const outerMarks = (outer ?? "").split("/").filter(isTreeMark);
  return [...outerMarks.slice(-maxOuterMarks), mark].join("/");
}

/** How many gateways stand above a process with this value. */
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

export function isOfGateway(mark: string, gateway: GatewayMark): boolean {
  return mark.startsWith(`${gateway}.`);
}

function isTreeMark(text: string): boolean {
  return /^[0-9a-f]{32}\.[0-9]{1,12}$/.test(text);
}

/** Gateways within gateways: more than a handful is a loop in somebody's configuration. */
const maxOuterMarks = 8;

const noMarks: readonly string[] = Object.freeze([]);
