const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const long = new Intl.NumberFormat("en", { notation: "compact", compactDisplay: "long", maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const relativeShort = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

export function count(value: number): string {
  return whole.format(value);
}

export function compact(value: number): string {
  return short.format(value);
}

/** `1 tool`, `93 tools`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** `1,204`; `about 1,204` where they were estimated. */
export function tokenCount({ tokens, isExact }: { readonly tokens: number; readonly isExact: boolean }): string {
  return `${isExact || tokens === 0 ? "" : "about "}${count(tokens)}`;
}

/** Today's times without their date. */
export function time(iso: string): string {
  const date = new Date(iso);
  return date.toDateString() === new Date().toDateString() ? clock.format(date) : moment.format(date);
}

export function fullTime(iso: string): string {
  return moment.format(new Date(iso));
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** `3 minutes ago`, `in 2 hours`. */
export function ago(iso: string, nowMs = Date.now()): string {
  return relativeText(relative, iso, nowMs);
}

/** `3 min. ago`, for a narrow column. */
export function agoShort(iso: string, nowMs = Date.now()): string {
  return relativeText(relativeShort, iso, nowMs);
}

function relativeText(format: Intl.RelativeTimeFormat, iso: string, nowMs: number): string {
  const ms = new Date(iso).getTime() - nowMs;
  const [unit, unitMs] = units.find(([, size]) => Math.abs(ms) >= size) ?? ["second", 1_000];
  return format.format(Math.round(ms / unitMs), unit);
}

/** A time known by the hour, by the start of that hour: `this hour`, `3 hr. ago`. */
export function agoByHour(iso: string, nowMs = Date.now()): string {
  return nowMs - new Date(iso).getTime() < 3_600_000 ? "this hour" : agoShort(iso, nowMs);
}

/** The whole words of a text that fit, and a mark where some are left out. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const beginning = text.slice(0, most + 1);
  const end = beginning.search(/\s\S*$/);
  return `${beginning.slice(0, end > most / 2 ? end : most).trimEnd()} …`;
}

/** `3.3 million`: a large number that is read at a glance. */
export function roughly(value: number): string {
  return Math.abs(value) < 1_000_000 ? count(value) : long.format(value);
}

/** `44 %`, `0.3 %`. */
export function percent(part: number): string {
  return `${(part * 100).toFixed(Math.abs(part) < 0.1 ? 1 : 0)} %`;
}

/** `2 h 14 min`, `340 ms`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${count(Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  if (value < 1e6) return `${(value / 1e3).toFixed(0)} kB`;
  return value < 1e9 ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e9).toFixed(1)} GB`;
}

/**
 * Text that a server wrote, with what would act instead of being seen made visible: control characters, changes of
 * direction, tags, and everything else that has no width. Joiners stay, because scripts and emoji need them.
 */
export function plain(text: string): string {
  return text.replace(
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g,
    (found) => (found === "\r" ? "" : `⟦U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟧`),
  );
}
