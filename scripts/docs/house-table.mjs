/**
 * The table of wings and their rooms for ARCHITECTURE.md.
 * @param {readonly import("../house.mjs").Room[]} wings
 * @returns {string}
 */
export function houseTable(wings) {
  const rows = wings.map(({ name, about, rooms = [] }) => {
    const names = rooms.map((room) => `\`${room.name}\``).join(", ");
    return `| \`${name}/\` | ${about} | ${names} |`;
  });
  return ["| wing | what it does | rooms, from the top |", "|---|---|---|", ...rows].join("\n");
}

/**
 * The table of one wing's rooms, for its page below docs/architecture/.
 * @param {import("../house.mjs").Room} wing
 * @returns {string}
 */
export function roomsTable(wing) {
  const rowsOf = (rooms, above) =>
    rooms.flatMap(({ name, about, rooms: inner = [] }) => [
      `| \`${above}${name}/\` | ${about} |`,
      ...rowsOf(inner, `${above}${name}/`),
    ]);
  return ["| room | contents |", "|---|---|", ...rowsOf(wing.rooms ?? [], "")].join("\n");
}
