/** docs/events.md. */
export function eventsPage(publishedEvents: Readonly<Record<string, string>>): string;
