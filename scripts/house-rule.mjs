// A rule for oxlint: imports go downwards in the house (house.mjs). A file may import from a place only if, where the
// ways to the two part, its own wing or room comes before the other one's in the list.
import { dirname, join, relative, sep } from "node:path";
import { wings } from "./house.mjs";

/**
 * Why a file may not import another one, both as paths below src/; undefined where it may.
 * @param {string} from
 * @param {string} to
 * @returns {string | undefined}
 */
export function upwards(from, to) {
  const own = from.split("/").slice(0, -1);
  const other = to.split("/").slice(0, -1);
  /** @type {readonly import("./house.mjs").Room[]} */
  let rooms = wings;
  let isGround = false;
  for (let depth = 0; ; depth += 1) {
    const here = rooms.findIndex(({ name }) => name === own[depth]);
    const there = rooms.findIndex(({ name }) => name === other[depth]);
    const place = own.slice(0, depth + 1).join("/");
    // From a wing's own files into its rooms: allowed, except where they are the ground.
    if (here < 0)
      return isGround && there >= 0 ? `${own.slice(0, depth).join("/")}'s own files lie below its rooms` : undefined;
    if (there < 0) return undefined;
    if (here > there) return `${place} lies below ${other.slice(0, depth + 1).join("/")}`;
    if (here < there) return undefined;
    isGround = rooms[here]?.ground === true;
    rooms = rooms[here]?.rooms ?? [];
  }
}

export const downwards = {
  meta: { type: "problem", messages: { upwards: "{{why}}: wings and rooms import downwards only." } },
  create(context) {
    const root = join(context.cwd, "src");
    const path = relative(root, context.filename);
    if (path.startsWith("..") || path.endsWith(".test.ts")) return {};
    const from = path.split(sep).join("/");
    const check = (node, source) => {
      if (source?.type !== "Literal" || typeof source.value !== "string" || !source.value.startsWith(".")) return;
      const why = upwards(from, join(dirname(from), source.value).split(sep).join("/"));
      if (why !== undefined) context.report({ node, messageId: "upwards", data: { why } });
    };
    return {
      ImportDeclaration: (node) => check(node, node.source),
      ExportNamedDeclaration: (node) => check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source),
    };
  },
};

/** Every place of the house, from the top down, as paths below src/. */
export function placesOf(rooms = wings, above = "") {
  return rooms.flatMap((room) => {
    const path = `${above}${room.name}`;
    return [path, ...placesOf(room.rooms ?? [], `${path}/`)];
  });
}
