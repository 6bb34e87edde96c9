// docs/cli.md from the table of commands, and the variables of settings that have no flag.
import { cell, sentence, variableName } from "./setting-words.mjs";

/** @type {import("./cli-page.d.mts").cliPage} */
export function cliPage({ commands, anyCommandOptions, otherVariables }, { settingsTable }) {
  const sections = Object.entries(commands).map(([name, command]) => section(name, command));
  const any = Object.entries(anyCommandOptions).map(
    ([name, { short, about }]) => `| \`--${name}\`, \`-${short}\` | ${sentence(about)} |`,
  );
  const variables = [
    ...variableRows(settingsTable, ["toolyard"]),
    ...Object.entries(otherVariables).map(([name, about]) => `| \`${name}\` | ${cell(sentence(about))} |`),
  ];
  return `${opening}
${sections.join("\n")}
## Of every command

| option | what |
|---|---|
${any.join("\n")}

## Other variables

| variable | what |
|---|---|
${variables.join("\n")}
`;
}

function section(name, { usage, about, options, notes }) {
  const rows = Object.entries(options).map(
    ([option, { word, short, about: what }]) =>
      `| \`--${option}${word === undefined ? "" : ` ${word}`}\`${short === undefined ? "" : `, \`-${short}\``} | \`${variableName(option)}\` | ${cell(sentence(what))} |`,
  );
  const more = notes === undefined ? "" : `\n${notes}\n`;
  return `## ${name}

\`${usage}\`

${about}

| option | variable | what |
|---|---|---|
${rows.join("\n")}
${more}`;
}

/** Of the settings that have a variable and no flag. */
function variableRows(rows, above) {
  return Object.entries(rows).flatMap(([name, member]) => {
    const path = [...above, name];
    if (member.kind === "group") return variableRows(member.rows, path);
    if (member.kind !== "row" || member.variable === undefined) return [];
    const unit = member.isVariableInSeconds === true ? " In seconds." : "";
    return [`| \`${member.variable}\` | \`${path.join(".")}\`: ${cell(member.about)}.${unit} |`];
  });
}

const opening = `# Command line

<!-- Made by scripts/write-docs.mjs from src/cli/commands.ts. Do not edit. -->

Results go to stdout, everything else to stderr. Exit codes: 0 fine, 1 failed, 2 wrong usage or configuration.

Every option is also a variable: \`--data-dir\` is \`TOOLYARD_DATA_DIR\`. An option is stronger than its variable, and an
empty variable counts as unset. One that is on or off takes \`true\`, \`1\`, \`yes\` or \`on\`, and \`false\`, \`0\`, \`no\`
or \`off\`. A variable of several values has commas between them. Settings that have an option are described in
[configuration.md](configuration.md).

Without \`--config\` the configuration is \`toolyard.json\`, \`mcp.json\` or \`.mcp.json\` in the working directory, then
\`toolyard.json\` or \`mcp.json\` in the user's own configuration directory.
`;
