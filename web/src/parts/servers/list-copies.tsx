import { CopyButton } from "../basic/button.tsx";

interface ListCopiesProps {
  /** The command that shows the same; none where no command has these filters. */
  readonly command: string | undefined;
  /** The shown rows, as REST has them. */
  readonly rows: readonly unknown[];
}

/** Takes a list elsewhere. */
export function ListCopies({ command, rows }: ListCopiesProps) {
  return (
    <>
      <CopyButton label="Copy as JSON" text={() => JSON.stringify(rows, undefined, 2)} />
      {command !== undefined && <CopyButton label="Copy as command" text={command} />}
    </>
  );
}
