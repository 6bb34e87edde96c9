/**
 * The table of wings and rooms for ARCHITECTURE.md.
 * @param {readonly import("../house.mjs").Wing[]} wings
 * @returns {string}
 */
export function houseTable(wings) {
  const rows = wings.flatMap((wing) => [
    `| \`${wing.name}/\` | ${wing.about} |`,
    ...wing.rooms.map((room) => `| \`${wing.name}/${room.name}/\` | ${room.about} |`),
  ]);
  return ["| wing or room | what lives there |", "|---|---|", ...rows].join("\n");
}
