// docs/stateful-servers.md from the table of servers that are known to hold state.

/** @type {import("./stateful-page.d.mts").statefulPage} */
export function statefulPage({ groups, fileGroups }, { idleTimeoutMs, statefulIdleTimeoutMs }) {
  const [seconds, hours] = [idleTimeoutMs / 1_000, statefulIdleTimeoutMs / 3_600_000];
  const sections = (all) => all.map(section).join("\n");
  return `${opening(seconds, hours)}\n${sections(groups)}\n${filesOpening}\n${sections(fileGroups)}`;
}

const opening = (idleSeconds, statefulHours) => `# Servers that hold state

<!-- Made by scripts/write-docs.mjs from src/config/entry/stateful-servers.ts. Do not edit. -->

Toolyard stops the process of a server after ${idleSeconds} s without use, and starts it again at the next call. A browser, a shell or a debugger
would lose its state: the open page, the variables, the connection. Such servers are treated differently.

- **They stay** while a client that used them is connected, and for ${statefulHours} hours after their last use
  (\`toolyard.instances.statefulIdleTimeoutMs\`; it never shortens \`idleTimeoutMs\`). A client with a session is connected until the session ends,
  one over stdio until it closes its end, and one of revision 2026-07-28 over HTTP while it listens (\`subscriptions/listen\`).
- **An \`idleTimeoutMs\` in the server's own entry is obeyed** as it is, connected clients or not; 0 means never.
- **Each user of a lost process is told once**, in the first result of the next one: that the server's state is lost, and why (stopped after
  ${statefulHours} h without use, crashed, restarted by hand, its configuration changed). In the four tools, \`flat\` and \`namespaces\` this is one
  text block at the end of the result; everywhere, also where one server is shown as it is and over REST, it is in
  \`_meta["toolyard/restarted"]\`. No one else sees it. A restart of Toolyard itself ends every client's session, and is not announced.

Who is told: a session, or a connection over stdio, is one client. A session that Toolyard ended because it was idle is continued by the next
one that the same program opens for the same principal. Requests without a session (revision 2026-07-28 over HTTP, REST) of one principal and one
\`clientInfo.name\` are taken for one client.

## Which servers

\`"stateful": true\` or \`false\` in a server's entry decides. Without it, a server that is started here counts as one when its command names one of the
packages, images or programs below: through \`npx\`, \`bunx\`, \`pnpm dlx\`, \`npm exec\`, \`uvx\`, \`uv run\`, \`pipx run\`, \`python -m\`, \`docker run\` or
\`podman run\`, with any version or tag; as \`node …/node_modules/PACKAGE/…\`; or directly. A remote server counts only when its entry says so.
`;

const filesOpening = `## Servers that keep files

In a [cluster](scale.md#where-a-server-runs), these run where their files are (\`"files": "node"\`), unless the entry has another \`files\`. They are
recognised as above.
`;

function section({ title, holds, npm, pypi, images, commands }) {
  const rows = [
    ["npm", npm],
    ["PyPI", pypi],
    ["Image", images],
    ["Program", commands],
  ].flatMap(([from, names]) => (names.length === 0 ? [] : [`| ${from} | ${names.map(quoted).join(", ")} |`]));
  return `### ${title}\n\nThey hold ${holds}.\n\n| From | Names |\n|---|---|\n${rows.join("\n")}\n`;
}

const quoted = (name) => `\`${name}\``;
