import { lettersOf, hueOf } from "../../words/letters.ts";

interface ServerIconProps {
  readonly name: string;
  /** Its own, where it was sent within the page: nothing is loaded from elsewhere. */
  readonly icon?: string | null;
}

/** Two letters in a colour that follows from the name: a server is found again by it. Never a status. */
export function ServerIcon({ name, icon = null }: ServerIconProps) {
  if (icon?.startsWith("data:image/") === true) return <img className="server-icon" src={icon} alt="" />;
  return (
    <span className={`letters hue-${hueOf(name)}`} aria-hidden>
      {lettersOf(name)}
    </span>
  );
}
