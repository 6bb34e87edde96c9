// Remembers what was sent on each stream of one legacy session, so that a client can come back with Last-Event-ID.

// A conformance session sends a few dozen messages; more than this is a runaway client.
const eventsLimit = 1_000;

/** @returns {import("@modelcontextprotocol/server").EventStore} */
export function createEventStore() {
  /** @type {{ id: string, streamId: string, message: object }[]} */
  const events = [];
  let count = 0;
  return {
    async storeEvent(streamId, message) {
      count += 1;
      const id = `${streamId}#${count}`;
      events.push({ id, streamId, message });
      if (events.length > eventsLimit) events.shift();
      return id;
    },
    async getStreamIdForEventId(eventId) {
      return eventId.slice(0, eventId.lastIndexOf("#"));
    },
    async replayEventsAfter(lastEventId, { send }) {
      const streamId = lastEventId.slice(0, lastEventId.lastIndexOf("#"));
      const seen = Number(lastEventId.slice(lastEventId.lastIndexOf("#") + 1));
      for (const event of events) {
        const isNewer = Number(event.id.slice(event.id.lastIndexOf("#") + 1)) > seen;
        // The priming event is stored as an empty message: it opens a stream and carries nothing to replay.
        const isMessage = Object.keys(event.message).length > 0;
        if (event.streamId === streamId && isNewer && isMessage) await send(event.id, event.message);
      }
      return streamId;
    },
  };
}
